//! `run --profiler` with a profiler of our own: it samples by signals, asks AsyncGetCallTrace and writes a JFR file. One
//! stack in so many has a mistake, if we want.

#[path = "../support/mod.rs"]
mod support;

mod chosen;

use oracle::Layer;
use oracle::record::{CauseName, JoinCounts, KindCount};
use oracle::report::Report;
use oracle::tally::Tally;
use std::fs;
use std::path::{Path, PathBuf};
use support::{Deadline, jdks, jvmti_library, on_each_jdk};

/// Programs whose stacks AsyncGetCallTrace walks well.
const SCENARIO: &str = r#"
    name = "profiler"
    layers = ["ground", "gst", "profiler"]
    [budget]
    profiler = 1
    [imprecise_budget]
    profiler = 1
    [sampling]
    interval_us = 1000000
    gst_every = 0
    check_share = 0.05
    [[program]]
    name = "calls"
    baseline = false
    fixtures = { names = ["mutual-recursion", "math-parser", "tree-maps"], seconds = 6 }
"#;

const DESCRIPTION: &str = r#"
    name = "ours"
    library = "libprofiler"
    options = "one_in=0"
    recording = "file={recording}"
    events = ["jdk.ExecutionSample"]
    jvm_walker = ["period_us=1000", "period_us=10000", "period_us=1000000"]
"#;

/// The profiler, and the file that describes it.
struct Ours {
    library: PathBuf,
    description: PathBuf,
}

impl Ours {
    fn build(dir: &Path) -> Option<Ours> {
        let description = dir.join("ours.toml");
        fs::write(&description, DESCRIPTION).unwrap();
        Some(Ours {
            library: jvmti_library("tests/profiler_library/profiler.c", dir)?,
            description,
        })
    }

    /// The report of one run of `scenario` with these options of the profiler.
    fn report(&self, jdk: &Path, scenario: &str, seed: u64, options: &str) -> Report {
        let profiler = format!("{}={options}", self.library.display());
        let description = self.description.to_str().unwrap();
        let given = ["--profiler", &profiler, "--profiler-file", description];
        let report = support::run_scenario(jdk, scenario, seed, &given).report;
        let run = &report.runs[0];
        assert_eq!(run.invalid, None, "{jdk:?}: {:?}", run.notes);
        report
    }

    /// One run with these options of the profiler.
    fn run(&self, jdk: &Path, seed: u64, options: &str) -> (Tally, JoinCounts) {
        let report = self.report(jdk, SCENARIO, seed, options);
        let run = &report.runs[0];
        let layer = report.layer(Layer::Profiler).expect("it was asked for");
        let joined = run.joined.iter().find(|of| of.layer == Layer::Profiler);
        (layer.tally(), joined.expect("it was joined").clone())
    }
}

/// The share of events that must belong to exactly one request. All threads are asked at once: more often than each 10 ms, and
/// the agent's memory for requests may be full.
const JOINED: f64 = 0.999;

/// How many events are enough to see a share of one in a thousand.
const EVENTS: u64 = 10_000;

#[test]
fn each_event_of_a_profiler_belongs_to_a_request() {
    let dir = tempfile::tempdir().unwrap();
    let Some(ours) = Ours::build(dir.path()) else {
        return;
    };
    on_each_jdk(|jdk| {
        let deadline = Deadline::new(format!("{jdk:?}: waiting for events"));
        let (mut events, mut joined) = (0, 0);
        for seed in 1.. {
            deadline.check();
            let (tally, counts) = ours.run(jdk, seed, "period_us=10000");
            (events, joined) = (events + counts.events, joined + counts.joined);
            println!("{jdk:?}: {joined} of {events} joined, {tally:?}");
            if events >= EVENTS {
                break;
            }
        }
        let share = joined as f64 / events as f64;
        assert!(share >= JOINED, "{jdk:?}: {joined} of {events}");
    });
}

/// Stacks that were judged, and those of them that are false without a known defect of the JVM. These defects come in bursts: with one
/// way to compile a method a run has hundreds of their stacks, with another none.
#[derive(Clone, Copy, Default)]
struct Judged {
    decided: u64,
    unexplained: u64,
}

impl Judged {
    fn of(report: &Report) -> Judged {
        let layer = report.layer(Layer::Profiler).expect("it was asked for");
        let is_unexplained = |kind: &&KindCount| {
            let cause = kind.cause.as_ref().map(CauseName::as_str);
            let is_explained = cause.is_some_and(CauseName::explains);
            kind.layer == Layer::Profiler && kind.verdict.is_mismatch() && !is_explained
        };
        let kinds = report.runs[0].kinds.iter();
        Judged {
            decided: layer.tally().decided(),
            unexplained: kinds.filter(is_unexplained).map(|kind| kind.count).sum(),
        }
    }

    fn add(&mut self, other: Judged) {
        self.decided += other.decided;
        self.unexplained += other.unexplained;
    }

    fn rate(self) -> f64 {
        self.unexplained as f64 / self.decided.max(1) as f64
    }

    fn variance(self) -> f64 {
        (self.unexplained + 1) as f64 / (self.decided.max(1) as f64).powi(2)
    }
}

/// One false stack in 500 is told from the false stacks that AsyncGetCallTrace gives without it.
#[test]
fn a_mistake_in_one_of_five_hundred_stacks_is_told() {
    const ONE_IN: u64 = 500;
    /// So many standard deviations: an honest profiler exceeds them in one of 30,000 comparisons.
    const DEVIATIONS: f64 = 4.0;
    let dir = tempfile::tempdir().unwrap();
    let Some(ours) = Ours::build(dir.path()) else {
        return;
    };
    for jdk in jdks().into_iter().take(1) {
        // The same honest runs for each fault, as many as the fault that takes most of them needs.
        let mut honest_runs: Vec<Judged> = vec![];
        for fault in ["cut", "drop", "swap", "bci"] {
            let deadline = Deadline::new(format!("{jdk:?}: waiting until {fault} is told"));
            let (mut honest, mut faulty) = (Judged::default(), Judged::default());
            for seed in 1.. {
                deadline.check();
                let run = |options: &str| Judged::of(&ours.report(&jdk, SCENARIO, seed, options));
                if honest_runs.len() < seed as usize {
                    honest_runs.push(run("period_us=1000"));
                }
                honest.add(honest_runs[seed as usize - 1]);
                faulty.add(run(&format!(
                    "period_us=1000,one_in={ONE_IN},fault={fault}"
                )));
                let more = faulty.rate() - honest.rate();
                let deviation = (honest.variance() + faulty.variance()).sqrt();
                println!(
                    "{jdk:?}: {fault}: {} of {} false without a known defect, {} of {} without the fault",
                    faulty.unexplained, faulty.decided, honest.unexplained, honest.decided
                );
                if more > DEVIATIONS * deviation {
                    break;
                }
            }
        }
    }
}
