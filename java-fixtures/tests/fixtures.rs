//! Every fixture, on every JDK found.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use common::{feature, jdks, run};
use java_fixtures::{
    FIXTURE_NAMES, FIXTURES_JAR, JAVAC_CLASS, MAIN_CLASS, STRESS_NAMES, TRACE_EXACT, TRACE_LIGHT,
    write_to,
};

/// The jar is written once, because tests run at the same time.
static JAR: LazyLock<PathBuf> = LazyLock::new(|| {
    write_to(env!("CARGO_TARGET_TMPDIR").as_ref())
        .unwrap()
        .fixtures_jar
});

fn java(home: &Path, options: &[&str], class: &str, args: &[&str]) -> common::Output {
    let jar = &*JAR;
    let mut all = vec!["-cp", jar.to_str().unwrap()];
    all.extend(options);
    all.push(class);
    all.extend(args);
    run(home, "java", &all)
}

/// One line for each name, in order, as `NAME REST`.
fn assert_names(output: &str, names: &[&str]) {
    let said: Vec<_> = output
        .lines()
        .map(|l| l.split(' ').next().unwrap())
        .collect();
    assert_eq!(said, names);
}

/// JDKs may skip different fixtures, but checksums must agree.
fn assert_agree(a: &str, b: &str) {
    for (a, b) in a.lines().zip(b.lines()) {
        assert!(
            a == b || a.contains(" skipped: ") || b.contains(" skipped: "),
            "{a} but {b}"
        );
    }
}

#[test]
fn the_lists_of_names_are_those_of_the_jar() {
    for home in jdks() {
        let listed = java(&home, &[], MAIN_CLASS, &["--list"]).ok();
        let of_kind = |kind: &str| -> Vec<_> {
            listed
                .lines()
                .filter_map(|l| l.strip_prefix(kind))
                .collect()
        };
        assert_eq!(of_kind("default "), FIXTURE_NAMES);
        assert_eq!(of_kind("stress "), STRESS_NAMES);
    }
}

#[test]
fn checksums_agree_between_jdks_modes_and_rounds() {
    let mut first: Option<String> = None;
    for home in jdks() {
        // The second round runs with loaded classes and filled caches. Interpreted, some fixtures do not fit into a
        // small stack. The bare run has java.base alone.
        let runs = [
            java(&home, &[], MAIN_CLASS, &["--rounds", "2"]),
            java(&home, &["-Xint", "-Xss180k"], MAIN_CLASS, &[]),
            java(
                &home,
                &["--limit-modules", "java.base"],
                MAIN_CLASS,
                &["--millis", "1"],
            ),
        ];
        for output in runs {
            let output = output.ok();
            assert_names(&output, FIXTURE_NAMES);
            assert!(output.contains("native-calls skipped: no fixture natives\n"));
            assert_agree(first.get_or_insert(output.clone()), &output);
        }
    }
}

#[test]
fn stress_ends() {
    let mut first: Option<String> = None;
    for home in jdks() {
        let output = java(&home, &[], MAIN_CLASS, &["stress"]).ok();
        assert_names(&output, STRESS_NAMES);
        let skipped = output.contains("virtual-threads-10000 skipped: needs 21\n");
        assert_eq!(skipped, feature(&home) < Some(21), "{output}");
        assert_agree(first.get_or_insert(output.clone()), &output);
    }
}

#[test]
fn the_seed_changes_the_work() {
    for home in jdks().iter().take(1) {
        let one = java(home, &[], MAIN_CLASS, &["math-parser", "--seed", "1"]).ok();
        let two = java(home, &[], MAIN_CLASS, &["math-parser", "--seed", "2"]).ok();
        assert_ne!(one, two);
    }
}

#[test]
fn bad_usage_exits_with_2() {
    for home in jdks().iter().take(1) {
        for args in [
            &["no-such"][..],
            &["sorting=many"],
            &["--rounds"],
            &["--millis", "soon"],
        ] {
            let output = java(home, &[], MAIN_CLASS, args);
            assert_eq!(
                (output.code, output.stdout.as_str()),
                (Some(2), ""),
                "{output:?}"
            );
        }
        assert_eq!(
            java(home, &[], JAVAC_CLASS, &["--files", "0"]).code,
            Some(2)
        );
    }
}

#[test]
fn javac_compiles_the_generated_sources() {
    for home in jdks() {
        let args = ["--files", "48", "--rounds", "2"];
        let output = java(&home, &[], JAVAC_CLASS, &args).ok();
        assert!(output.starts_with("javac files=48 classes="), "{output}");
        // The interpreter must give the same result as the compilers.
        let small = ["--files", "8", "--seed", "2"];
        let compiled = java(&home, &[], JAVAC_CLASS, &small).ok();
        assert_eq!(java(&home, &["-Xint"], JAVAC_CLASS, &small).ok(), compiled);
    }
}

#[test]
fn javac_is_skipped_without_a_compiler() {
    for home in jdks() {
        for modules in ["java.base", "java.base,java.compiler"] {
            let options = ["--limit-modules", modules];
            let output = java(&home, &options, JAVAC_CLASS, &["--files", "8"]).ok();
            assert!(
                output.starts_with("skipped: this runtime has no compiler"),
                "{output}"
            );
        }
    }
}

#[test]
fn generated_sources_can_be_written() {
    for home in jdks().iter().take(1) {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sources");
        let _ = fs::remove_dir_all(&dir);
        let args = ["--files", "13", "--write", dir.to_str().unwrap()];
        java(home, &[], JAVAC_CLASS, &args).ok();
        assert_eq!(fs::read_dir(dir.join("gen/p0")).unwrap().count(), 12);
        assert_eq!(fs::read_dir(dir.join("gen/p1")).unwrap().count(), 1);
    }
}

#[test]
fn sources_compile_without_warnings() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("java/fixtures/stackwitness/fixtures");
    for home in jdks() {
        if !home.join("bin/javac").is_file() {
            println!("skipped: no javac in {}", home.display());
            continue;
        }
        let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lint");
        let mut args: Vec<_> = ["--release", "17", "-Xlint:all,-serial", "-Werror", "-d"]
            .map(PathBuf::from)
            .to_vec();
        args.push(classes);
        args.extend(
            fs::read_dir(&sources)
                .unwrap()
                .map(|entry| entry.unwrap().path()),
        );
        run(&home, "javac", &args).ok();
    }
}

#[test]
fn the_hook_class_suits_the_boot_loader() {
    for trace in [TRACE_EXACT, TRACE_LIGHT] {
        let holds = |text: &[u8]| trace.windows(text.len()).any(|window| window == text);
        assert!(holds(b"java/lang/StackwitnessTrace"));
        assert!(!holds(b"<clinit>"));
        assert_eq!(trace[..8], [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 55]);
    }
}

#[test]
fn write_to_replaces_only_what_differs() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("write-to/new");
    let _ = fs::remove_dir_all(&dir);
    let installed = write_to(&dir).unwrap();
    let modified = || {
        fs::metadata(&installed.trace_exact)
            .unwrap()
            .modified()
            .unwrap()
    };
    let before = modified();
    fs::write(&installed.fixtures_jar, "old").unwrap();
    assert_eq!(write_to(&dir).unwrap(), installed);
    assert_eq!(fs::read(&installed.fixtures_jar).unwrap(), FIXTURES_JAR);
    assert_eq!(modified(), before);
    assert_eq!(
        fs::read_dir(&dir).unwrap().count(),
        3,
        "no temporary file may stay"
    );
}

#[test]
fn each_fixture_can_have_rounds_of_its_own() {
    for home in jdks().iter().take(1) {
        let args = ["sorting=3", "records=2", "--millis", "0", "--times"];
        let output = java(home, &[], MAIN_CLASS, &args).ok();
        let rounds: Vec<_> = output
            .split_whitespace()
            .filter_map(|word| word.strip_prefix("rounds="))
            .collect();
        assert_eq!(rounds, ["3", "2"], "{output}");
    }
}
