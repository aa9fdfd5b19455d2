//! The command line, by example. Each folder in `tests/examples` is a test:
//!
//! | file | holds |
//! |---|---|
//! | `cmd` | a shell script; `stackwitness` is on its `PATH`, the working directory is a copy of the folder |
//! | `stdout`, `stderr` | what the script must print; the working directory is shown as `DIR`, the list of all layers as `LAYERS` |
//! | `code` | the exit code that it must have |
//! | any other | input |
//!
//! Files in `tests/examples/shared` are input of every test. `BLESS=1 cargo test --test examples`
//! writes `stdout`, `stderr` and `code`. Look at the difference before you commit it.

mod support;

use libtest_mimic::{Arguments, Failed, Trial};
use oracle::Layer;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/examples");

/// Input of every test.
const SHARED: &str = "shared";

/// The files with the expected results.
const EXPECTED: [&str; 3] = ["stdout", "stderr", "code"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let entries = fs::read_dir(CASES).expect("the folder of examples");
    let mut cases: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    cases.retain(|case| case.join("cmd").exists());
    cases.sort();
    let trial = |case: PathBuf| {
        let name = case
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Trial::test(name, move || check(&case))
    };
    let (mistakes, answers) = (cases.clone(), cases.clone());
    let mut trials: Vec<Trial> = cases.into_iter().map(trial).collect();
    trials.push(Trial::test("mistakes_name_their_remedy", move || {
        remedies(&mistakes)
    }));
    trials.push(Trial::test("answers_fit_a_terminal", move || {
        narrow(&answers)
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// What a message says that names a remedy: a command, an option, the values or keys that are known, what to give.
const REMEDIES: [&str; 21] = [
    "`stackwitness ",
    "stackwitness run --",
    "stackwitness compare",
    "Usage:",
    "did you mean",
    "possible values:",
    "known here:",
    "known:",
    "with -",
    "give ",
    "--help",
    "docs/",
    "needs",
    "name a",
    "ls out/runs",
    "more checks",
    "expected",
    "nor one of",
    "say PATH",
    "behind `--`",
    "Examples:",
];

/// Each mistake of a user gets a message that says what to do.
fn remedies(cases: &[PathBuf]) -> Result<(), Failed> {
    let read = |case: &Path, file| fs::read_to_string(case.join(file)).unwrap_or_default();
    let mistakes = cases.iter().filter(|case| read(case, "code").trim() == "2");
    let mistakes: Vec<&PathBuf> = mistakes.collect();
    assert!(mistakes.len() >= 50, "{} mistakes", mistakes.len());
    let says_nothing = |case: &&&PathBuf| {
        let told = read(case, "stdout") + &read(case, "stderr");
        !REMEDIES.iter().any(|remedy| told.contains(remedy))
    };
    let silent: Vec<_> = mistakes.iter().filter(says_nothing).collect();
    if silent.is_empty() {
        Ok(())
    } else {
        Err(format!("without a remedy: {silent:#?}").into())
    }
}

/// The longest line of an answer that no option asks to be whole, raw or for another program.
const WIDTH: usize = 100;

/// Commands that answer a person.
const ANSWERS: [&str; 4] = ["run", "gate", "compare", "render"];

/// Options that ask for tables, for one line, or for a format with lines of its own.
const WHOLE: [&str; 6] = ["-v", "--verbose", "-q", "--quiet", "--json", "--format"];

/// Without such an option no line is longer than a terminal.
fn narrow(cases: &[PathBuf]) -> Result<(), Failed> {
    let read = |case: &Path, file| fs::read_to_string(case.join(file)).unwrap_or_default();
    let answers = |case: &&PathBuf| {
        let script = read(case, "cmd");
        let calls = script
            .lines()
            .filter_map(|line| line.strip_prefix("stackwitness "));
        let mut calls = calls.map(|call| call.split_whitespace().collect::<Vec<_>>());
        calls.clone().count() > 0
            && calls.all(|call| {
                ANSWERS.contains(&call[0]) && !call.iter().any(|word| WHOLE.contains(word))
            })
    };
    let mut seen = 0;
    let mut wide = vec![];
    for case in cases.iter().filter(answers) {
        for line in read(case, "stdout").lines() {
            seen += 1;
            if line.chars().count() > WIDTH {
                wide.push(format!("{case:?}: {line}"));
            }
        }
    }
    assert!(seen >= 100, "{seen} lines");
    if wide.is_empty() {
        Ok(())
    } else {
        Err(format!("longer than {WIDTH} columns: {wide:#?}").into())
    }
}

fn check(case: &Path) -> Result<(), Failed> {
    let found = run(case)?;
    if std::env::var_os("BLESS").is_some() {
        for (file, found) in EXPECTED.iter().zip(&found) {
            fs::write(case.join(file), found)?;
        }
        return Ok(());
    }
    let mut differences = String::new();
    for (file, found) in EXPECTED.iter().zip(&found) {
        let expected = fs::read_to_string(case.join(file)).unwrap_or_default();
        if *found != expected {
            differences += &format!("--- {file}, expected\n{expected}--- {file}, found\n{found}");
        }
    }
    if differences.is_empty() {
        Ok(())
    } else {
        Err(format!("{differences}BLESS=1 writes what was found to {case:?}").into())
    }
}

/// Standard output, standard error and exit code of a case.
fn run(case: &Path) -> Result<[String; 3], Failed> {
    let dir = tempfile::tempdir()?;
    copy(&Path::new(CASES).join(SHARED), dir.path())?;
    copy(case, dir.path())?;
    let program = Path::new(env!("CARGO_BIN_EXE_stackwitness"));
    let mut path = program.parent().unwrap_or(program).as_os_str().to_owned();
    path.push(":/usr/bin:/bin");
    let output = support::run(
        Command::new("sh")
            .args(["-u", "cmd"])
            .current_dir(dir.path())
            .env("PATH", path)
            .env("CI", "true")
            .env_remove("JAVA_HOME"),
    );
    let place = dir.path().display().to_string();
    let layers = Layer::ALL.map(Layer::name).join(", ");
    let shown = |text: String| text.replace(&place, "DIR").replace(&layers, "LAYERS");
    let code = output.code.map_or("killed".into(), |code| code.to_string());
    Ok([shown(output.stdout), shown(output.stderr), code + "\n"])
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            fs::create_dir_all(&target)?;
            copy(&source, &target)?;
        } else if !EXPECTED.iter().any(|name| entry.file_name() == *name) {
            fs::copy(source, target)?;
        }
    }
    Ok(())
}
