//! Layers `java` to `thread-print`: stack traces that Java code and `jcmd` give of a suspended thread.

#[path = "../support/mod.rs"]
mod support;

use oracle::Layer;
use oracle::mutants::Detection;
use oracle::record::{FaultCount, Mismatch};
use oracle::tally::Tally;
use scenarios::jdk::Jdk;
use std::path::Path;
use support::{Ran, jdks, seeds, sum};

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
    support::run_well(jdk, &scenario, seed, arguments)
}

/// No stack of an honest JVM is called false.
#[test]
fn stacks_of_java_are_true() {
    for jdk in jdks() {
        let mut tallies = LAYERS.map(|layer| (layer, Tally::default()));
        for seed in seeds(&format!("{jdk:?}: {ENOUGH} checks")) {
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

/// `Thread.getStackTrace` is asked for the stacks of virtual threads, too. Of a virtual thread GetStackTrace and Java
/// show the frames down to `VirtualThread.run`, and of platform threads neither does. In interpreted code a thread that
/// yields is often in `VirtualThread.notifyJvmtiUnmount`, which GetStackTrace leaves out and Java shows.
#[test]
fn stacks_of_virtual_threads_are_true() {
    for jdk in jdks() {
        let feature = Jdk::at(&jdk, "JAVA_HOME").unwrap().feature().unwrap();
        if feature < 21 {
            println!("skipped: {} has no virtual threads", jdk.display());
            continue;
        }
        // Each answer is made false, so that each stack is in the report.
        let scenario = |seed: u64| {
            let interpreted = if seed.is_multiple_of(2) {
                "\"-Xint\""
            } else {
                ""
            };
            format!(
                "name = \"virtual\"\nlayers = [\"java\"]\n[budget]\njava = 1\n\
             [sampling]\nno_pause = true\ngst_every = 1\nsuspend_share = 0.5\nevidence_limit = 1000\n\
             [[program]]\nname = \"program\"\nbaseline = false\njvm_args = [{interpreted}]\n\
             fixtures = {{ names = [\"virtual-threads-10000\"], seconds = 4 }}\n"
            )
        };
        let (mut honest, mut caught) = (0, 0);
        for seed in seeds(&format!("{jdk:?}: {ENOUGH} faults")) {
            let of_honest = support::run_scenario(&jdk, &scenario(seed), seed, &[]).report;
            let java = of_honest.layer(Layer::JavaThread).expect("it is there");
            let mismatches = &of_honest.mismatches;
            assert_eq!(java.tally().mismatches(), 0, "{jdk:?}: {mismatches:#?}");
            honest += java.tally().matches;
            let fault = ["--fault", "drop-top:java:1"];
            let faulty = support::run_scenario(&jdk, &scenario(seed), seed, &fault).report;
            let is_virtual = |mismatch: &&Mismatch| {
                let truth = mismatch.evidence.other.get("lines_of_truth");
                truth.is_some_and(|lines| lines.contains("java.lang.VirtualThread.run:"))
            };
            caught += faulty.mismatches.iter().filter(is_virtual).count() as u64;
            println!(
                "{jdk:?}: {honest} matches, {caught} faults in stacks of virtual threads caught"
            );
            if honest >= ENOUGH && caught >= ENOUGH {
                break;
            }
        }
    }
}

/// Faults in the answers are caught in the layers that ask.
#[test]
fn faults_in_stacks_of_java_are_caught() {
    for jdk in jdks() {
        let fault = format!("all:{}:1", LAYERS.map(Layer::name).join(","));
        let mut faults: Vec<FaultCount> = vec![];
        for seed in seeds(&format!("{jdk:?}: {FAULTS} faults")) {
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
