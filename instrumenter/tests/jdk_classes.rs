//! Classes of every JDK found: written back identical, hooked, read by other readers, accepted by
//! `ClassFile.verify` and by the JVM's own verifier.
//!
//! The ordinary tests take `java.base`; `--ignored --nocapture` takes every module, and prints how
//! many classes there were.

mod support;

use classfile_testing::folder::classes;
use classfile_testing::jdk::{Jdk, run};
use instrumenter::{Choice, HookClass, HookId, MethodInfo, Tokens, rewrite};
use std::fs;
use support::corpus::{HOOKS, compile_owner, java, rewrite_all, verify};

fn check(pattern: &str, read_every: usize, minutes: u64) {
    for jdk in &Jdk::all() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        jdk.extract(pattern, &at("plain"));
        let label = format!("JDK {}", jdk.feature);
        rewrite_all(&label, &at("plain"), &at("hooked"), read_every);
        verify(&label, &at("plain"), &at("hooked"), minutes);

        jdk.javac(&[], &at("tools"), &[&java().join("LinkAll.java")]);
        compile_owner(jdk, &at("hooked/java.base"));
        let mut names = String::new();
        let mut patches = Vec::new();
        for module in fs::read_dir(at("plain")).expect("modules").flatten() {
            for class in classes(&module.path()) {
                let name = class
                    .strip_prefix(module.path())
                    .expect("below")
                    .with_extension("");
                if name.as_os_str() != "module-info" {
                    names += &name.display().to_string().replace('/', ".");
                    names.push('\n');
                }
            }
            let name = module.file_name().to_string_lossy().into_owned();
            let hooked = at("hooked").join(&name);
            let _ = fs::remove_file(hooked.join("module-info.class"));
            patches.extend([
                "--patch-module".to_owned(),
                format!("{name}={}", hooked.display()),
            ]);
        }
        fs::write(at("names"), names).expect("a file");
        let link = |patches: &[String]| {
            let mut c = jdk.tool("java");
            c.args([
                "-Xverify:all",
                "-Xshare:off",
                "-XX:-UsePerfData",
                "--add-modules",
                "ALL-SYSTEM",
            ]);
            c.args(patches)
                .arg("-cp")
                .arg(at("tools"))
                .arg("LinkAll")
                .arg(at("names"))
                .arg("all");
            run(&mut c, minutes).ok()
        };
        let (plain, hooked) = (link(&[]), link(&patches));
        println!("{label} by -Xverify:all: {}", hooked.trim());
        assert_eq!(plain, hooked);
    }
}

#[test]
fn classes_of_java_base() {
    check("/java\\.base/.*\\.class", 10, 5);
}

#[test]
#[ignore = "takes minutes"]
fn classes_of_every_module() {
    check("/.*\\.class", 10, 10);
}

/// Without this test, a JVM that accepts everything would pass the test of linking.
#[test]
fn the_verifier_rejects_a_wrong_frame() {
    let Some(jdk) = Jdk::all().pop() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = folder.path();
    jdk.javac(
        &[],
        at,
        &[&java().join("LinkAll.java"), &java().join("Trace.java")],
    );
    let trace = fs::read(at.join("Trace.class")).expect("a class");
    let mut plan = |_: &MethodInfo<'_>| Choice::Hook {
        id: HookId(1),
        check: false,
        plain: false,
    };
    let hooks = HookClass {
        tokens: Tokens::Always,
        ..HOOKS
    };
    let r = rewrite(&trace, hooks, &mut plan).expect("a class file");
    let mut bytes = r.bytes.expect("hooked");
    // The frame of a catch-all says that the hooks' local is an int. Change the type to float.
    let at_frame = bytes
        .windows(4)
        .rposition(|w| w[0] == 1 && w[1..4] == [0, 1, 7])
        .expect("a frame");
    bytes[at_frame] = 2;
    fs::write(at.join("Trace.class"), bytes).expect("a file");
    fs::write(at.join("names"), "Trace\n").expect("a file");
    let mut c = jdk.tool("java");
    c.args(["-Xverify:all", "-cp"])
        .arg(at)
        .arg("LinkAll")
        .arg(at.join("names"))
        .arg("all");
    let result = run(&mut c, 5);
    assert!(
        result
            .stdout
            .contains("rejected Trace: java.lang.VerifyError"),
        "{}",
        result.stdout
    );
}
