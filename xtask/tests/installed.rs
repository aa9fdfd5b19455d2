//! The other ways to get the program: `cargo install`, and the container recipe.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use test_support::{Deadline, run, run_until};

/// A build of all packages on a slow machine ends earlier.
const BUILD: Duration = Duration::from_secs(45 * 60);

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn finish(command: &mut Command, what: &str) -> String {
    run_until(command, "", &Deadline::of(what, BUILD)).ok()
}

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

#[test]
#[ignore = "builds the archive, and an image"]
fn the_container_recipe_makes_an_image_that_works() {
    let mut daemon = Command::new("docker");
    daemon
        .arg("info")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if !daemon.status().is_ok_and(|status| status.success()) {
        println!("skipped: no container daemon");
        return;
    }
    let dist = tempfile::tempdir().unwrap();
    let mut archive = Command::new(env!("CARGO_BIN_EXE_xtask"));
    finish(
        archive.args(["dist", "--out"]).arg(dist.path()),
        "the archive",
    );
    const IMAGE: &str = "stackwitness-test";
    let mut build = Command::new("docker");
    build
        .args(["build", "--tag", IMAGE, "--file"])
        .arg(project().join("packaging/Dockerfile"))
        .arg(dist.path());
    finish(&mut build, "the image");
    let mut doctor = Command::new("docker");
    let found = run(doctor.args(["run", "--rm", IMAGE, "doctor"]));
    assert!(found.stdout.contains("ok       agent: "), "{found:#?}");
    let mut remove = Command::new("docker");
    run(remove.args(["image", "rm", IMAGE])).ok();
}
