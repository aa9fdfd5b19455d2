//! Generated classes compute the same results with and without hooks, under `-Xverify:all`, on
//! every JDK found.

use classfile_testing::generate::{self, GenClass};
use classfile_testing::jdk::{Jdk, run};
use instrumenter::{Choice, HookClass, HookId, MethodInfo, Tokens, rewrite};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::fs;
use std::path::Path;

const CLASSES: usize = 150;

fn hook(class: &[u8], tokens: Tokens) -> Vec<u8> {
    let mut next = 0;
    let mut all = |_: &MethodInfo<'_>| {
        next += 1;
        Choice::Hook {
            id: HookId(next),
            check: next % 3 == 0,
            plain: false,
        }
    };
    let name = "Trace";
    let r = rewrite(class, HookClass { name, tokens }, &mut all)
        .expect("a generated class is well-formed");
    for m in &r.left {
        println!("left {}: {}", m.name, m.reason);
    }
    r.bytes.unwrap_or_else(|| class.to_vec())
}

fn write(folder: &Path, classes: &[GenClass]) {
    let save = |which: &str, nth: usize, bytes: &[u8]| {
        let at = folder.join(which);
        fs::create_dir_all(&at).expect("a folder");
        fs::write(at.join(format!("{nth}.class")), bytes).expect("a file");
    };
    for (nth, class) in classes.iter().enumerate() {
        let bytes = class.bytes();
        save("plain", nth, &bytes);
        save("by-id", nth, &hook(&bytes, Tokens::WhereNeeded));
        save("by-token", nth, &hook(&bytes, Tokens::Always));
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
            if which != "plain" {
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
        let modes = ["-Xmixed", "-Xint"];
        let runs = modes
            .iter()
            .flat_map(|&mode| [(mode, "by-id"), (mode, "by-token")]);
        for (mode, which) in runs {
            let hooked = result(mode, which);
            let differs = plain
                .stdout
                .lines()
                .zip(hooked.stdout.lines())
                .find(|(a, b)| a != b);
            assert!(
                hooked.code == Some(0) && plain.stdout == hooked.stdout,
                "seed {seed}, JDK {}, {mode}, {which}: {differs:?}\n{}\n{}",
                jdk.feature,
                hooked.stderr,
                hooked.stdout.lines().last().unwrap_or_default()
            );
            println!(
                "JDK {}, {mode}, {which}: {} results alike; {}",
                jdk.feature,
                plain.stdout.lines().count(),
                hooked.stderr.trim()
            );
        }
    }
}
