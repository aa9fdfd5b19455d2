//! The container recipe, by whatever builds images here: `docker`, or `buildah`, which needs no daemon.
//! STACKWITNESS_TEST_JDK_IMAGE names a base image other than the recipe's.

mod support;

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};
use support::{BUILD, finish, project};
use test_support::{Deadline, Output, run, wait};

const IMAGE: &str = "stackwitness-test";

/// What builds images and runs programs in them.
#[derive(Copy, Clone)]
enum Builder {
    Docker,
    Buildah,
}

impl Builder {
    fn here() -> Option<Builder> {
        let answers = |program| quiet(Command::new(program).arg("info"));
        let docker = answers("docker").then_some(Builder::Docker);
        docker.or_else(|| answers("buildah").then_some(Builder::Buildah))
    }

    fn command(self) -> Command {
        Command::new(match self {
            Builder::Docker => "docker",
            Builder::Buildah => "buildah",
        })
    }

    /// Whether a base image is here, or can be fetched.
    fn has(self, image: &str) -> bool {
        quiet(self.command().args(["inspect", "--type", "image", image]))
            || quiet(self.command().args(["pull", image]))
    }

    /// Runs the image's entry point with this argument.
    fn run_image(self, argument: &str) -> Output {
        match self {
            Builder::Docker => run(self.command().args(["run", "--rm", IMAGE, argument])),
            Builder::Buildah => {
                let container = run(self.command().args(["from", IMAGE])).ok();
                let container = container.trim();
                // buildah leaves the entry point out.
                let entry = ["run", container, "--", "stackwitness", argument];
                let found = run(self.command().args(entry));
                run(self.command().args(["rm", container])).ok();
                found
            }
        }
    }

    fn remove_image(self) {
        let mut remove = self.command();
        match self {
            Builder::Docker => remove.args(["image", "rm", IMAGE]),
            Builder::Buildah => remove.args(["rmi", IMAGE]),
        };
        run(&mut remove).ok();
    }
}

/// The base image that a recipe names.
fn base_of(recipe: &Path) -> String {
    let text = fs::read_to_string(recipe).expect("a recipe");
    let base = text.lines().find_map(|line| line.strip_prefix("ARG JDK="));
    base.expect("a base image").to_owned()
}

/// Whether a command is there and succeeds.
fn quiet(command: &mut Command) -> bool {
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    let deadline = Deadline::of(format!("{command:?}"), BUILD);
    let started = command.spawn();
    started.is_ok_and(|mut child| wait(&mut child, &deadline) == Some(0))
}

#[test]
#[ignore = "builds the archive, and an image"]
fn the_container_recipe_makes_an_image_that_works() {
    let Some(builder) = Builder::here() else {
        println!("skipped: neither a docker daemon nor buildah");
        return;
    };
    let recipe = project().join("packaging/Dockerfile");
    let base = env::var("STACKWITNESS_TEST_JDK_IMAGE").unwrap_or_else(|_| base_of(&recipe));
    if !builder.has(&base) {
        println!(
            "skipped: no image {base}; STACKWITNESS_TEST_JDK_IMAGE names another one with a JDK"
        );
        return;
    }
    let dist = tempfile::tempdir().unwrap();
    let mut archive = Command::new(env!("CARGO_BIN_EXE_xtask"));
    finish(
        archive.args(["dist", "--out"]).arg(dist.path()),
        "the archive",
    );
    let mut build = builder.command();
    build
        .args(["build", "--tag", IMAGE, "--build-arg"])
        .arg(format!("JDK={base}"))
        .arg("--file")
        .arg(recipe)
        .arg(dist.path());
    finish(&mut build, "the image");
    let found = builder.run_image("doctor");
    builder.remove_image();
    assert!(found.stdout.contains("ok       agent: "), "{found:#?}");
}
