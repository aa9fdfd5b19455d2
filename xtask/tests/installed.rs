//! `cargo install`.

mod support;

use std::process::Command;
use support::{finish, project};
use test_support::run;

#[test]
#[ignore = "builds the whole program: minutes"]
fn cargo_install_gives_a_program_that_finds_its_agent() {
    let root = tempfile::tempdir().unwrap();
    let mut install = Command::new(env!("CARGO"));
    install
        .args(["install", "--locked", "--offline", "--path", ".", "--root"])
        .arg(root.path())
        .current_dir(project());
    finish(&mut install, "cargo install");
    // Not even the folder is one that the build knows.
    let mut doctor = Command::new(root.path().join("bin/stackwitness"));
    let found = run(doctor.arg("doctor").current_dir(root.path()));
    assert!(found.stdout.contains("ok       agent: "), "{found:#?}");
}
