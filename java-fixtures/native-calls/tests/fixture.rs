//! The fixture `native-calls`, with this library, on every JDK found.

#[path = "../../tests/common/mod.rs"]
mod common;

use std::env;
use std::path::PathBuf;

use common::{feature, jdks, run};
use java_fixtures::{MAIN_CLASS, write_to};
use stackwitness_fixture_natives::PROPERTY;

/// Cargo builds the library for this test too, in the folder of the test program.
fn library() -> PathBuf {
    let test = env::current_exe().unwrap();
    let name = format!(
        "{}stackwitness_fixture_natives{}",
        env::consts::DLL_PREFIX,
        env::consts::DLL_SUFFIX
    );
    test.with_file_name(name)
}

#[test]
fn checksums_agree_between_jdks_and_modes() {
    let jar = write_to(env!("CARGO_TARGET_TMPDIR").as_ref())
        .unwrap()
        .fixtures_jar;
    let property = format!("-D{PROPERTY}={}", library().display());
    let mut first: Option<String> = None;
    for home in jdks() {
        for mode in ["-Xmixed", "-Xint", "-Xcheck:jni"] {
            let mut args = vec![property.as_str(), mode, "-cp", jar.to_str().unwrap()];
            if feature(&home) >= Some(24) {
                args.push("--enable-native-access=ALL-UNNAMED");
            }
            args.extend([MAIN_CLASS, "native-calls", "--rounds", "2"]);
            let output = run(&home, "java", &args);
            assert_eq!(output.stderr, "", "{}", home.display());
            let output = output.ok();
            assert!(!output.contains("skipped"), "{output}");
            assert_eq!(first.get_or_insert(output.clone()), &output);
        }
    }
}
