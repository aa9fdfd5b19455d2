//! Generated classes compute the same hooked and not, under `-Xverify:all`, on every JDK found.

use classfile_testing::generate::{self, GenClass};
use classfile_testing::jdk::{Jdk, run};
use instrumenter::{Choice, HookId, MethodInfo, rewrite};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::fs;
use std::path::Path;

const CLASSES: usize = 150;

fn hook(class: &[u8]) -> Vec<u8> {
    let mut next = 0;
    let mut all = |_: &MethodInfo<'_>| {
        next += 1;
        Choice::Hook {
            id: HookId(next),
            check: next % 3 == 0,
        }
    };
    let r = rewrite(class, "Trace", &mut all).expect("a generated class is well-formed");
    for m in &r.left {
        println!("left {}: {}", m.name, m.reason);
    }
    r.bytes.unwrap_or_else(|| class.to_vec())
}

fn write(folder: &Path, classes: &[GenClass]) {
    let (plain, hooked) = (folder.join("plain"), folder.join("hooked"));
    fs::create_dir_all(&plain).expect("a folder");
    fs::create_dir_all(&hooked).expect("a folder");
    for (i, class) in classes.iter().enumerate() {
        let bytes = class.bytes();
        fs::write(hooked.join(format!("{i}.class")), hook(&bytes)).expect("a file");
        fs::write(plain.join(format!("{i}.class")), bytes).expect("a file");
    }
}

#[test]
fn generated_classes_run_the_same() {
    let seed = std::env::var("STACKWITNESS_TEST_SEED")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(1u64);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = generate::class_with(1..5);
    let count = std::env::var("STACKWITNESS_TEST_CASES")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(CLASSES);
    let classes: Vec<GenClass> = (0..count)
        .map(|_| strategy.new_tree(&mut runner).expect("a class").current())
        .collect();
    let java = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java");
    for jdk in Jdk::all() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = folder.path();
        write(at, &classes);
        jdk.javac(
            &[],
            at,
            &[&java.join("Trace.java"), &java.join("Driver.java")],
        );
        let result = |mode: &str, which: &str| {
            let mut c = jdk.tool("java");
            c.args([
                "-Xverify:all",
                "-XX:-UsePerfData",
                "-XX:-OmitStackTraceInFastThrow",
                mode,
                "-cp",
            ])
            .arg(at)
            .arg("Driver")
            .arg(at.join(which));
            if which == "hooked" {
                c.arg("end");
            }
            run(&mut c, 5)
        };
        let plain = result("-Xmixed", "plain");
        assert!(
            plain.code == Some(0),
            "seed {seed}, JDK {}: {}\n{}",
            jdk.feature,
            plain.stdout,
            plain.stderr
        );
        for mode in ["-Xmixed", "-Xint"] {
            let hooked = result(mode, "hooked");
            let differs = plain
                .stdout
                .lines()
                .zip(hooked.stdout.lines())
                .find(|(a, b)| a != b);
            assert!(
                hooked.code == Some(0) && plain.stdout == hooked.stdout,
                "seed {seed}, JDK {}, {mode}: {differs:?}\n{}\n{}",
                jdk.feature,
                hooked.stderr,
                hooked.stdout.lines().last().unwrap_or_default()
            );
            println!(
                "JDK {}, {mode}: {} results alike; {}",
                jdk.feature,
                plain.stdout.lines().count(),
                hooked.stderr.trim()
            );
        }
    }
}
