//! For each command, a full output gives exit code 3 with a message, and a closed output is no
//! error. No command panics.

use crate::support::{Deadline, fake_jdk, run, stackwitness, wait};
use std::fs::{self, File, OpenOptions};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Counts one match in `gst`.
const SCRIPT: &str = r#"
printf '\001' | dd of=$dir/slots.bin bs=1 seek=1280 conv=notrunc 2>/dev/null
echo '{"started":{"home":"h","vendor":"v","version":"17","vm":"VM","asgct":true}}' > $dir/records.jsonl
"#;

const SCENARIO: &str = "name = 'x'\nlayers = ['gst']\n[[program]]\nname = 'p'\njava = ['P']\n";

/// A stack of a class without a class file.
const STACK: &str = r#"{"frames":[{"class":"a.B","method":"m","descriptor":"()V","bci":0}]}"#;

struct Place {
    dir: tempfile::TempDir,
    jdk: PathBuf,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let jdk = fake_jdk(dir.path(), SCRIPT);
        fs::write(dir.path().join("x.toml"), SCENARIO).unwrap();
        fs::write(dir.path().join("stacks.jsonl"), STACK).unwrap();
        fs::create_dir(dir.path().join("classes")).unwrap();
        fs::write(dir.path().join("classes/No.class"), "no class").unwrap();
        let place = Place { dir, jdk };
        let first = run(&mut place.command(&["run", "--scenario", "x.toml", "--out", "first"]));
        assert_eq!(first.code, Some(0), "{first:#?}");
        place
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = stackwitness();
        command.args(args).current_dir(self.dir.path());
        if matches!(args[0], "run" | "plan") {
            command.arg("--jdk").arg(&self.jdk);
        }
        command
    }

    /// Exit code and standard error of a command whose standard output is `output`.
    fn ended(&self, args: &[&str], output: impl Into<Stdio>) -> (Option<i32>, String) {
        let errors = self.dir.path().join("errors");
        let mut command = self.command(args);
        command
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(File::create(&errors).unwrap());
        let mut child = command.spawn().unwrap();
        let code = wait(&mut child, &Deadline::new(format!("{args:?}")));
        (code, fs::read_to_string(errors).unwrap())
    }
}

/// All commands, with their exit codes if the output can be written.
const COMMANDS: &[(&[&str], i32)] = &[
    (&["run", "--scenario", "x.toml", "--out", "again"], 0),
    (&["plan", "--scenario", "x.toml"], 0),
    (&["gate", "first"], 0),
    (&["compare", "first", "first"], 3),
    (&["merge", "first", "--out", "merged"], 0),
    (&["render", "first"], 0),
    (&["render", "first", "--format", "html"], 0),
    (&["dev", "rewrite", "classes", "rewritten"], 1),
    (&["completions", "bash"], 0),
    (&["man"], 0),
    (&["--help"], 0),
    (&["run", "--help"], 0),
    (&["--version"], 0),
];

#[test]
fn a_full_output_is_an_error_that_says_so() {
    let place = Place::new();
    for (args, _) in COMMANDS {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let (code, errors) = place.ended(args, full);
        assert_eq!(code, Some(3), "{args:?} {errors}");
        assert!(
            errors.contains("the output could not be written"),
            "{args:?} {errors}"
        );
    }
}

#[test]
fn a_closed_output_is_no_error() {
    let place = Place::new();
    for (args, expected) in COMMANDS {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let (code, errors) = place.ended(args, writer);
        assert_eq!(code, Some(*expected), "{args:?} {errors}");
        assert!(
            !errors.contains("could not be written"),
            "{args:?} {errors}"
        );
    }
}

#[test]
fn full_standard_error_changes_no_exit_code() {
    let place = Place::new();
    for (args, expected) in COMMANDS.iter().filter(|(args, _)| args[0] != "dev") {
        let mut command = place.command(args);
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut child = command.stdout(Stdio::null()).stderr(full).spawn().unwrap();
        let code = wait(&mut child, &Deadline::new(format!("{args:?}")));
        assert_eq!(code, Some(*expected), "{args:?}");
    }
}

#[test]
fn edges_on_a_full_or_closed_output() {
    let Some(jdk) = crate::support::jdks().into_iter().next() else {
        return;
    };
    let place = Place::new();
    let jdk = jdk.display().to_string();
    let args = ["judge", "--jdk", &jdk, "--max-unknown", "1", "stacks.jsonl"];
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (code, errors) = place.ended(&args, full);
    assert_eq!(code, Some(3), "{errors}");
    assert!(
        errors.contains("the output could not be written"),
        "{errors}"
    );
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let (code, errors) = place.ended(&args, writer);
    assert_eq!(code, Some(0), "{errors}");
}
