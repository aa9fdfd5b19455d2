//! The first minutes of a user: what will happen, the progress, and what to do next.

use crate::support::{fake_jdk, jdks, report, run, stackwitness};
use oracle::Layer;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Counts one match in `gst`, and ends after a while.
const SCRIPT: &str = r#"
printf '\001' | dd of=$dir/slots.bin bs=1 seek=1280 conv=notrunc 2>/dev/null
echo '{"started":{"home":"h","vendor":"v","version":"17","vm":"VM","asgct":true}}' > $dir/records.jsonl
sleep 3
"#;

/// A program, and one that needs what no machine has.
const SCENARIO: &str = "name = 'x'\nlayers = ['gst']\n\
    [[program]]\nname = 'lacks'\nfixtures = { seconds = 9 }\nneeds = ['/no.jar']\ninstall = 'find no.jar'\n\
    [[program]]\nname = 'p'\nfixtures = { seconds = 2 }\nbaseline = false\n";

/// `run` of a scenario with one program of two seconds that can run, on a JDK that is a script.
fn command(dir: &Path) -> Vec<String> {
    let jdk = fake_jdk(dir, SCRIPT);
    fs::write(dir.join("x.toml"), SCENARIO).unwrap();
    let path = |name: &str| dir.join(name).display().to_string();
    let words = [
        "run",
        "--scenario",
        &path("x.toml"),
        "--out",
        &path("out"),
        "--jdk",
    ];
    let jdk = jdk.display().to_string();
    words.into_iter().chain([&*jdk]).map(String::from).collect()
}

#[test]
fn a_log_says_what_runs_for_how_long_and_what_came_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let output = run(stackwitness().env_remove("CI").args(command(dir.path())));
    assert_eq!(output.code, Some(0), "{output:#?}");
    let lines: Vec<&str> = output.stderr.lines().collect();
    let [announced, skipped, starts, ended] = lines[..] else {
        panic!("{output:#?}");
    };
    assert!(
        announced.starts_with("stackwitness runs p on JDK 17.0.1 ("),
        "{announced}"
    );
    assert!(
        announced.contains(", takes about 4 s; results go to "),
        "{announced}"
    );
    assert_eq!(
        skipped,
        "lacks: skipped: there is no /no.jar; get it with `find no.jar`"
    );
    assert_eq!(starts, "[1/1] p: starts");
    assert!(
        ended.ends_with(" s, 1 walk, 0.0 % without an answer, 0 mismatches"),
        "{ended}"
    );
    assert!(output.stdout.lines().count() <= 25, "{output:#?}");
    let (_, next) = output
        .stdout
        .split_once("\nverdict: within budget\n")
        .expect("the verdict");
    assert!(next.contains("stackwitness gate "), "{next}");
    let last = next.lines().last().expect("the page");
    assert!(last.ends_with("/out/report.html"), "{next}");
}

#[test]
fn a_terminal_has_a_table_of_layers_while_a_program_runs() {
    if Command::new("script").arg("--version").output().is_err() {
        println!("skipped: there is no `script`, which makes a terminal");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_stackwitness");
    let quoted = |word: &String| format!("'{word}'");
    let words: Vec<String> = command(dir.path()).iter().map(quoted).collect();
    let shell = format!("'{program}' {}", words.join(" "));
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--return", "--command", &shell, "/dev/null"]);
    let output = run(terminal.env_remove("CI"));
    assert_eq!(output.code, Some(0), "{output:#?}");
    let drawn = output.stdout.replace("\r\n", "\n");
    let row = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = drawn.lines().map(row).collect();
    let head = ["layer", "checks", "match", "mismatches", "no", "answer"];
    let at = rows
        .iter()
        .position(|row| *row == head)
        .unwrap_or_else(|| panic!("{drawn}"));
    assert_eq!(rows[at + 1], ["gst", "1", "1", "0", "0.0", "%"], "{drawn}");
    // CUU: the next drawing replaces this drawing.
    assert!(drawn.contains("\x1b[4A"), "{drawn}");
}

#[test]
fn quick_answers_within_half_a_minute() {
    // A JDK that answers at once. The expected time is that of the plan, whatever this machine's
    // speed is.
    let dir = tempfile::tempdir().unwrap();
    let jdk = fake_jdk(dir.path(), "exit 1");
    let mut command = stackwitness();
    command
        .env_remove("CI")
        .args(["run", "--quick", "--jdk"])
        .arg(jdk);
    let output = run(command.arg("--out").arg(dir.path().join("out")));
    let (_, takes) = output.stderr.split_once("takes about ").expect("a time");
    let seconds: u32 = takes.split(' ').next().unwrap().parse().unwrap();
    assert!(takes.contains(" s; ") && seconds <= 30, "{output:#?}");
    assert_eq!(output.code, Some(3), "{output:#?}");
    assert!(output.stdout.contains("stackwitness doctor"), "{output:#?}");
}

#[test]
fn quick_has_checks_in_every_layer() {
    // The newest JDK alone: other tests have checks in every layer on each JDK.
    if let Some(jdk) = jdks().pop() {
        let dir = tempfile::tempdir().unwrap();
        let mut command = stackwitness();
        command.args(["run", "--quick", "--jdk"]).arg(&jdk);
        let output = run(command.arg("--out").arg(dir.path()));
        assert!(matches!(output.code, Some(0 | 1)), "{output:#?}");
        let report = report(dir.path());
        assert!(report.required.contains(&Layer::AsgctAsync), "{output:#?}");
        for &layer in &report.required {
            let counts = report.layer(layer);
            assert!(
                counts.is_some_and(|counts| counts.checks > 0),
                "{layer}: {output:#?}"
            );
        }
    }
}

#[test]
fn a_doctor_finds_what_is_lacking() {
    for jdk in jdks() {
        let output = run(stackwitness().args(["doctor", "--jdk"]).arg(&jdk));
        assert_eq!(output.code, Some(0), "{output:#?}");
        let lines: Vec<&str> = output.stdout.lines().collect();
        assert!(
            lines.iter().all(|line| line.starts_with("ok ")),
            "{lines:#?}"
        );
        for about in [
            "process_vm_readv",
            "free space",
            "core files",
            "JDK",
            "agent",
            "signals",
            "VM",
        ] {
            let start = format!("ok       {about}: ");
            assert!(
                lines.iter().any(|line| line.starts_with(&start)),
                "{lines:#?}"
            );
        }
    }
    let nowhere = run(stackwitness().args(["doctor", "--jdk", "/no/such/jdk"]));
    assert_eq!(nowhere.code, Some(3), "{nowhere:#?}");
    assert!(
        nowhere
            .stdout
            .contains("problem  JDK: no JDK in /no/such/jdk"),
        "{nowhere:#?}"
    );

    let dir = tempfile::tempdir().unwrap();
    let jdk = fake_jdk(dir.path(), "exit 1");
    let broken = run(stackwitness().args(["doctor", "--jdk"]).arg(jdk));
    assert_eq!(broken.code, Some(3), "{broken:#?}");
    assert!(broken.stdout.contains("problem  agent: "), "{broken:#?}");
}

#[test]
fn flags_go_to_a_users_program() {
    let dir = tempfile::tempdir().unwrap();
    let jdk = fake_jdk(dir.path(), "printf 'given: %s' \"$*\"");
    let mut command = stackwitness();
    command
        .args(["run", "--flags", "-Xint -Xmx64m", "--jdk"])
        .arg(jdk);
    let output = run(command
        .arg("--out")
        .arg(dir.path().join("out"))
        .args(["--", "Prog"]));
    assert!(output.stdout.starts_with("given: "), "{output:#?}");
    assert!(
        output.stdout.ends_with(" -Xint -Xmx64m Prog"),
        "{output:#?}"
    );
    // The table starts behind the program's unfinished line.
    assert!(output.stderr.starts_with('\n'), "{output:#?}");
}
