//! The first minutes of a user: what will happen, the progress, and what to do next.

use crate::support::{COUNTS_ONE, Place, jdks, run};
use oracle::Layer;
use std::process::Command;

/// A program, and one that needs what no machine has.
const SCENARIO: &str = "name = 'x'\nlayers = ['gst']\n\
    [[program]]\nname = 'lacks'\nfixtures = { seconds = 9 }\nneeds = ['/no.jar']\ninstall = 'find no.jar'\n\
    [[program]]\nname = 'p'\nfixtures = { seconds = 2 }\nbaseline = false\n";

/// A folder with the scenario, on a JDK that is a script.
fn place() -> Place {
    let place = Place::with_fake_jdk(&format!("{COUNTS_ONE}\nsleep 3"));
    place.write("x.toml", SCENARIO);
    place
}

const RUN: &str = "run --scenario x.toml --out out";

#[test]
fn a_log_says_what_runs_for_how_long_and_what_came_of_it() {
    let place = place();
    let output = run(place.command(RUN).env_remove("CI")).ended(0);
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
    let place = place();
    let shell = format!("'{}' {RUN}", env!("CARGO_BIN_EXE_stackwitness"));
    let command = place.command(RUN);
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--return", "--command", &shell, "/dev/null"]);
    terminal.envs(
        command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let output = run(terminal.env_remove("CI").current_dir(place.path(""))).ended(0);
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
    let place = Place::with_fake_jdk("exit 1");
    let output = run(place.command("run --quick --out out").env_remove("CI"));
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
        let place = Place::on(&jdk);
        let output = place.run("run --quick --out out");
        assert!(matches!(output.code, Some(0 | 1)), "{output:#?}");
        let report = place.report("out");
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
        let output = Place::on(&jdk).run("doctor").ended(0);
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
    let nowhere = Place::new().run("doctor --jdk /no/such/jdk").ended(3);
    let expected = "problem  JDK: no JDK in /no/such/jdk";
    assert!(nowhere.stdout.contains(expected), "{nowhere:#?}");

    let broken = Place::with_fake_jdk("exit 1")
        .run("doctor --jdk jdk")
        .ended(3);
    assert!(broken.stdout.contains("problem  agent: "), "{broken:#?}");
}

#[test]
fn flags_go_to_a_users_program() {
    let place = Place::with_fake_jdk("printf 'given: %s' \"$*\"");
    let mut command = place.command("run --out out --flags");
    let output = run(command.args(["-Xint -Xmx64m", "--", "Prog"]));
    assert!(output.stdout.starts_with("given: "), "{output:#?}");
    assert!(
        output.stdout.ends_with(" -Xint -Xmx64m Prog"),
        "{output:#?}"
    );
    // The table starts behind the program's unfinished line.
    assert!(output.stderr.starts_with('\n'), "{output:#?}");
}
