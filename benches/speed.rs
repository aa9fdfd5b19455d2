//! The cost of layer `call-edge` alone, for a program that is sampled a thousand times a second, and
//! the cost of layer `asgct-event` alone. Measures, and never fails on a number.
//!
//! `cargo bench --bench speed [-- SECONDS]`: within one run, turns of a second in which checks are
//! made alternate with turns without checks. The program repeats the same round of work.
//! The benchmark prints the CPU time of a round as a multiple of that in the turn before. Both
//! turns run the same compiled code on the same machine, so the comparison is precise even where
//! whole runs differ by a fifth. It leaves out the agent's work at the loading of classes. The
//! second number covers this work: the CPU time of the thread up to the end of its first round, in
//! JVMs with the agent and without.
//!
//! What `asgct-event` costs as a whole, with capabilities, thunks, slower allocations and the start, is the last
//! number: the CPU time of all threads of a JVM that does a fixed number of rounds, as a multiple of that of a JVM
//! without the agent. The runs alternate.
//!
//! `JAVA_HOME` names the JDK. Without it the newest JDK found is used.

mod support;

use oracle::Layer;
use oracle::pace::{Pace, Paced};
use oracle::record::{Config, RECORDS_FILE, SLOTS_FILE};
use oracle::tally::{Tally, slots};
use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Instant;
use support::Median;

/// Programs with one thread and short rounds. A JDK without a compiler gives no data for javac.
const PROGRAMS: [&str; 4] = ["math-parser", "lambdas", "regexes", "javac"];

/// About a thousand samples a second.
const PAUSE_US: u64 = 900;

/// The share of the thread's time that checks in events may take: that of scenarios.
const CHECK_SHARE: f64 = 0.1;

/// Turns at the start are left out, because the program is still being compiled.
const WARM_UP: usize = 10;

/// The start of a turn is left out, because a sample of the turn before may be under way.
const EDGE_NS: u64 = 20_000_000;

/// How many JVMs are started with the agent. As many are started without.
const STARTS: usize = 15;

/// Programs that do a fixed amount of work: javac, and programs that allocate much.
const WORK: [(&str, &[&str]); 2] = [
    ("javac", &["stackwitness.fixtures.Javac", "--rounds", "4"]),
    (
        "hash-maps and string-concat",
        &[
            "stackwitness.fixtures.Main",
            "hash-maps=600",
            "string-concat=600",
        ],
    ),
];

/// How many pairs of JVMs do this work, one with the agent and one without.
const PAIRS: usize = 9;

fn main() {
    let Ok(jdk) = scenarios::jdk::Jdk::find(None) else {
        println!("skipped: no JDK found");
        return;
    };
    let seconds = std::env::args().find_map(|arg| arg.parse().ok());
    let millis = 1000 * seconds.unwrap_or(60);
    let dir = tempfile::tempdir().expect("a folder for the runs");
    for layer in [Layer::CallEdge, Layer::AsgctEvent] {
        for program in PROGRAMS {
            in_turns(&jdk.java(), dir.path(), (layer, program), millis);
        }
    }
    starts(&jdk.java(), dir.path());
    for (name, work) in WORK {
        wholes(&jdk.java(), dir.path(), name, work);
    }
}

/// The CPU time of whole runs with `asgct-event`, and how many checks these make.
fn wholes(java: &Path, dir: &Path, name: &str, work: &[&str]) {
    let with_agent = config(Layer::AsgctEvent, dir);
    let (mut ratios, mut checked, mut seconds) = (vec![], 0, 0.0);
    for pair in 0..PAIRS {
        let mut cpu = [0.0; 2];
        // The second run has a warmer machine, so the order alternates.
        for agent in [pair % 2, 1 - pair % 2] {
            let config = (agent == 1).then_some(&with_agent);
            let (before, began) = (support::cpu_of_children(), Instant::now());
            let output = start(java, dir, work, config);
            assert!(output.status.success(), "{name}: {output:?}");
            cpu[agent] = support::cpu_of_children() - before;
            if agent == 1 {
                checked += checks(dir, Layer::AsgctEvent);
                seconds += began.elapsed().as_secs_f64();
            }
        }
        ratios.push(cpu[1] / cpu[0]);
    }
    if let Some(ratio) = Median::of(ratios) {
        println!(
            "{}, whole runs of {name}: {:.3} times (95 %: {:.3} to {:.3}), {:.0} checks a minute",
            Layer::AsgctEvent,
            ratio.value,
            ratio.low,
            ratio.high,
            60.0 * checked as f64 / seconds
        );
    }
}

fn in_turns(java: &Path, dir: &Path, (layer, program): (Layer, &str), millis: u64) {
    let config = Config {
        turns: Some(Pace::Rest),
        ..config(layer, dir)
    };
    let marks = run(java, dir, program, millis, Some(&config));
    let paced = support::paced(dir);
    let settled = paced.get(WARM_UP..).unwrap_or(&[]);
    let turns = paced.iter().filter(|turn| turn.pace == Pace::Checks);
    let nanos: u64 = turns.map(|turn| turn.end_ns - turn.start_ns).sum();
    let minutes = nanos as f64 / 60e9;
    let ratios = support::neighbours(settled, Pace::Rest).filter_map(|(rest, checks)| {
        let (rest, sampled) = (cost_of_round(&marks, rest)?, cost_of_round(&marks, checks)?);
        Some(sampled / rest)
    });
    match Median::of(ratios.collect()) {
        Some(ratio) => println!(
            "{layer}, {program}: {:.3} times (95 %: {:.3} to {:.3}), {:.0} checks a minute",
            ratio.value,
            ratio.low,
            ratio.high,
            checks(dir, layer) as f64 / minutes
        ),
        None => println!("{layer}, {program}: no data"),
    }
}

fn starts(java: &Path, dir: &Path) {
    let mut times = [vec![], vec![]];
    for start in 0..2 * STARTS {
        // The second run has a warmer machine, so the order alternates.
        let agent = (start + start / 2) % 2;
        let config = (agent == 1).then(|| config(Layer::CallEdge, dir));
        let marks = run(java, dir, PROGRAMS[0], 0, config.as_ref());
        times[agent].extend(marks.first().map(|mark| mark.cpu_ns as f64 / 1e6));
    }
    if let [Some(without), Some(with)] = times.map(Median::of) {
        println!(
            "up to the first round: {:.0} ms of CPU (95 %: {:.0} to {:.0}), without the agent {:.0} ({:.0} to {:.0})",
            with.value, with.low, with.high, without.value, without.low, without.high
        );
    }
}

/// The end of a round.
struct Mark {
    at_ns: u64,
    /// CPU time of the thread so far.
    cpu_ns: u64,
}

/// `layer` alone.
fn config(layer: Layer, dir: &Path) -> Config {
    let mut config = support::edges_alone(dir, PAUSE_US);
    if layer == Layer::AsgctEvent {
        config.layers = vec![layer];
        config.edges = false;
        config.events = true;
        config.sampling.native_calls = true;
        config.sampling.check_share = CHECK_SHARE;
    }
    config
}

/// How many checks the last run has counted.
fn checks(dir: &Path, layer: Layer) -> u64 {
    let bytes = fs::read(dir.join(SLOTS_FILE)).unwrap_or_default();
    Tally::from_slots(&slots(&bytes), layer).checks()
}

/// Runs a JVM to its end.
fn start(java: &Path, dir: &Path, program: &[&str], agent: Option<&Config>) -> Output {
    for written in [RECORDS_FILE, SLOTS_FILE] {
        let _ = fs::remove_file(dir.join(written));
    }
    let mut command = support::java(java, dir, agent);
    command.args(program).output().expect("the JVM starts")
}

fn run(java: &Path, dir: &Path, program: &str, millis: u64, agent: Option<&Config>) -> Vec<Mark> {
    let millis = millis.to_string();
    let program = ["stackwitness.fixtures.Rounds", program, &millis];
    let output = start(java, dir, &program, agent);
    let text = String::from_utf8_lossy(&output.stdout);
    let marks = text.lines().filter_map(|line| {
        let (at, cpu) = line.split_once(' ')?;
        Some(Mark {
            at_ns: at.parse().ok()?,
            cpu_ns: cpu.parse().ok()?,
        })
    });
    marks.collect()
}

/// Nanoseconds of CPU time that a round of this turn took.
fn cost_of_round(marks: &[Mark], turn: &Paced) -> Option<f64> {
    let within = |mark: &&Mark| (turn.start_ns + EDGE_NS..turn.end_ns).contains(&mark.at_ns);
    let first = marks.iter().find(within)?;
    let (mut last, mut rounds) = (first, 0);
    for mark in marks.iter().filter(within).skip(1) {
        (last, rounds) = (mark, rounds + 1);
    }
    (rounds > 0).then(|| (last.cpu_ns - first.cpu_ns) as f64 / f64::from(rounds))
}
