//! For each command, a full output gives exit code 3 with a message, and a closed output is no
//! error. No command panics.

use crate::support::{COUNTS_ONE, Deadline, Place, jdks, wait};
use std::fs::{self, File, OpenOptions};
use std::io::PipeWriter;
use std::process::Stdio;

const SCENARIO: &str = "name = 'x'\nlayers = ['gst']\n[[program]]\nname = 'p'\njava = ['P']\n";

/// A stack of a class without a class file.
const STACK: &str = r#"{"frames":[{"class":"a.B","method":"m","descriptor":"()V","bci":0}]}"#;

/// A folder with input for all commands, and a report.
fn place() -> Place {
    let place = Place::with_fake_jdk(COUNTS_ONE);
    place.write("x.toml", SCENARIO);
    place.write("stacks.jsonl", STACK);
    fs::create_dir(place.path("classes")).unwrap();
    place.write("classes/No.class", "no class");
    place.run("run --scenario x.toml --out first").ended(0);
    place
}

/// Exit code and standard error of a command whose standard output is `output`.
fn ended(place: &Place, words: &str, output: impl Into<Stdio>) -> (Option<i32>, String) {
    let mut command = place.command(words);
    let errors = File::create(place.path("errors")).unwrap();
    command.stdin(Stdio::null()).stdout(output).stderr(errors);
    let code = wait(&mut command.spawn().unwrap(), &Deadline::new(words));
    (code, place.read("errors"))
}

/// An output that is full.
fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").unwrap()
}

/// An output that nobody reads.
fn closed() -> PipeWriter {
    std::io::pipe().unwrap().1
}

/// All commands, with their exit codes if the output can be written.
const COMMANDS: [(&str, i32); 13] = [
    ("run --scenario x.toml --out again", 0),
    ("plan --scenario x.toml", 0),
    ("gate first", 0),
    ("compare first first", 3),
    ("merge first --out merged", 0),
    ("render first", 0),
    ("render first --format html", 0),
    ("dev rewrite classes rewritten", 1),
    ("completions bash", 0),
    ("man", 0),
    ("--help", 0),
    ("run --help", 0),
    ("--version", 0),
];

/// What is said of an output that is full.
const UNWRITTEN: &str = "the output could not be written";

#[test]
fn a_full_output_is_an_error_that_says_so() {
    let place = place();
    for (words, _) in COMMANDS {
        let (code, errors) = ended(&place, words, full());
        assert_eq!(code, Some(3), "{words} {errors}");
        assert!(errors.contains(UNWRITTEN), "{words} {errors}");
    }
}

#[test]
fn a_closed_output_is_no_error() {
    let place = place();
    for (words, expected) in COMMANDS {
        let (code, errors) = ended(&place, words, closed());
        assert_eq!(code, Some(expected), "{words} {errors}");
        assert!(!errors.contains("could not be written"), "{words} {errors}");
    }
}

#[test]
fn full_standard_error_changes_no_exit_code() {
    let place = place();
    for (words, expected) in COMMANDS {
        if !words.starts_with("dev ") {
            let mut command = place.command(words);
            let mut child = command
                .stdout(Stdio::null())
                .stderr(full())
                .spawn()
                .unwrap();
            let code = wait(&mut child, &Deadline::new(words));
            assert_eq!(code, Some(expected), "{words}");
        }
    }
}

#[test]
fn edges_on_a_full_or_closed_output() {
    let Some(jdk) = jdks().into_iter().next() else {
        return;
    };
    let place = Place::on(&jdk);
    place.write("stacks.jsonl", STACK);
    let words = format!("judge --jdk {} --max-unknown 1 stacks.jsonl", jdk.display());
    let (code, errors) = ended(&place, &words, full());
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.contains(UNWRITTEN), "{errors}");
    let (code, errors) = ended(&place, &words, closed());
    assert_eq!(code, Some(0), "{errors}");
}
