//! Layers `java` to `thread-print`: stack traces that Java code and `jcmd` give of a suspended thread.

#[path = "../support/mod.rs"]
mod support;

use oracle::Layer;
use oracle::mutants::Detection;
use oracle::record::FaultCount;
use oracle::report::Exit;
use oracle::tally::Tally;
use std::path::Path;
use support::{Deadline, Ran, jdks, sum};

const LAYERS: [Layer; 5] = [
    Layer::JavaThread,
    Layer::JavaAll,
    Layer::Mxbean,
    Layer::MxbeanAll,
    Layer::ThreadPrint,
];

/// The checks that each layer must have.
const ENOUGH: u64 = 30;

/// The faults that must be injected.
const FAULTS: u64 = 300;

fn run(jdk: &Path, seed: u64, arguments: &[&str]) -> Ran {
    let names = LAYERS.map(Layer::name);
    let budgets = names.map(|name| format!("{name} = 1\n")).concat();
    let scenario = format!(
        "name = \"thread-dumps\"\nlayers = {names:?}\n[budget]\n{budgets}\
         [sampling]\nno_pause = true\ngst_every = 1\n\
         [[program]]\nname = \"program\"\nbaseline = false\n\
         fixtures = {{ names = [\"lambdas\", \"contended\", \"wait-notify\", \"math-parser\"], seconds = 3 }}\n"
    );
    let ran = support::run_scenario(jdk, &scenario, seed, arguments);
    let of_run = &ran.report.runs[0];
    assert_eq!(of_run.exit, Exit::Code(0), "{jdk:?}");
    assert_eq!(of_run.invalid, None, "{jdk:?}");
    ran
}

/// No stack of an honest JVM is called false.
#[test]
fn stacks_of_java_are_true() {
    for jdk in jdks() {
        let deadline = Deadline::new(format!("{jdk:?}: {ENOUGH} checks"));
        let mut tallies = LAYERS.map(|layer| (layer, Tally::default()));
        for seed in 1.. {
            deadline.check();
            let ran = run(&jdk, seed, &[]);
            for (layer, sum) in &mut tallies {
                *sum += &ran.report.layer(*layer).expect("it is there").tally();
            }
            if tallies.iter().all(|(_, tally)| tally.matches >= ENOUGH) {
                break;
            }
        }
        for (layer, tally) in tallies {
            assert_eq!(tally.mismatches(), 0, "{jdk:?} {layer}: {tally:?}");
        }
    }
}

/// Faults in the answers are caught in the layers that ask.
#[test]
fn faults_in_stacks_of_java_are_caught() {
    for jdk in jdks() {
        let deadline = Deadline::new(format!("{jdk:?}: {FAULTS} faults"));
        let fault = format!("all:{}:1", LAYERS.map(Layer::name).join(","));
        let mut faults: Vec<FaultCount> = vec![];
        for seed in 1.. {
            deadline.check();
            faults.extend(support::faults_of(&run(&jdk, seed, &["--fault", &fault])));
            if sum(&faults, |_| true) >= FAULTS {
                break;
            }
        }
        let all = sum(&faults, |_| true);
        let caught = sum(&faults, |fault| fault.outcome == Detection::Caught);
        let unseen = sum(&faults, |fault| {
            matches!(fault.outcome, Detection::Explained(_))
        });
        println!("{jdk:?}: {all} faults, {caught} caught, {unseen} that no layer here can see");
        assert!(100 * (caught + unseen) >= 99 * all, "{jdk:?}: {faults:#?}");
        assert!(100 * unseen <= 5 * all, "{jdk:?}: {faults:#?}");
    }
}
