//! Layer `jfr-cpu-step`: requests at chosen instructions of threads that run one instruction at a time.

use super::{CHOSEN, each_group_is_caught, has_cpu_time, inject, recording};
use crate::support::{self, Ran, jdks, seeds, sum};
use oracle::Layer;
use oracle::mutants::Detection;
use oracle::report::Exit;
use oracle::tally::Tally;
use std::path::Path;

const LAYER: Layer = Layer::JfrCpuStep;

/// Runs fixtures whose threads step and make requests.
fn run(jdk: &Path, seed: u64) -> Ran {
    let scenario = format!(
        "name = \"jfr-step\"\nlayers = [\"gst-step\", \"{LAYER}\"]\n\
         [sampling]\nsteps = true\nstep_seconds = 8\nrequest_one_in = 20\ngst_every = 0\n\
         [budget]\n{LAYER} = 1\n[imprecise_budget]\n{LAYER} = 1\n\
         [[program]]\nname = \"program\"\nhooks = \"none\"\nbaseline = false\njvm_args = {:?}\n\
         fixtures = {{ names = [\"tiny-leaves\", \"hash-maps\", \"dispatch-interface\", \"lambdas\"], seconds = 4 }}\n",
        recording(CHOSEN),
    );
    support::run_well(jdk, &scenario, seed, &[])
}

fn tally(ran: &Ran, layer: Layer) -> Tally {
    let counts = ran.report.layer(layer);
    counts.map(|counts| counts.tally()).unwrap_or_default()
}

/// Events at steps are joined, faults in them are caught, and GetStackTrace agrees with the same truth.
#[test]
fn events_at_steps_are_joined_and_faults_in_them_are_caught() {
    if support::cannot_step() {
        return;
    }
    for jdk in jdks() {
        if !has_cpu_time(&jdk) {
            println!("skipped: {jdk:?} has no CPU-time samples");
            continue;
        }
        let (mut events, mut joined, mut faults) = (0, 0, vec![]);
        let (mut verdicts, mut of_truth) = (Tally::default(), Tally::default());
        for seed in seeds(&format!("{jdk:?} {LAYER}: waiting for events")) {
            let ran = run(&jdk, seed);
            let [counts] = &ran.report.runs[0].joined[..] else {
                panic!("{jdk:?}: one sampler: {:?}", ran.report.runs[0].joined);
            };
            assert_eq!(counts.layer, LAYER, "{jdk:?}");
            events += counts.events;
            joined += counts.joined;
            verdicts += &tally(&ran, LAYER);
            of_truth += &tally(&ran, Layer::GstStep);
            faults.extend(inject(&ran, LAYER, seed));
            let caught = sum(&faults, |fault| fault.outcome == Detection::Caught);
            if verdicts.matches >= 500 && caught >= 1000 && of_truth.matches >= 100 {
                break;
            }
        }
        println!("{jdk:?} {LAYER}: {joined} of {events} events joined; {verdicts:?}");
        assert!(100 * joined >= 99 * events, "{jdk:?}: {joined} of {events}");
        assert_eq!(of_truth.mismatches(), 0, "{jdk:?}: {of_truth:?}");
        let rate = verdicts.mismatch_rate().expect("there are checks");
        assert!(rate <= LAYER.row().budget, "{jdk:?}: {verdicts:?}");
        each_group_is_caught(&format!("{jdk:?} {LAYER}"), &faults);
        let is_good =
            |outcome: &Detection| matches!(outcome, Detection::Caught | Detection::Explained(_));
        let good = sum(&faults, |fault| is_good(&fault.outcome));
        let injected = sum(&faults, |_| true);
        println!("{jdk:?} {LAYER}: {injected} faults, {good} caught or not visible");
        assert!(100 * good >= 99 * injected, "{jdk:?}: {faults:#?}");
    }
}

/// A JVM without CPU-time samples is never asked, and its threads do not step.
#[test]
fn without_cpu_time_samples_there_is_no_data() {
    let Some(jdk) = jdks().into_iter().find(|jdk| !has_cpu_time(jdk)) else {
        println!("skipped: all JDKs have CPU-time samples");
        return;
    };
    let scenario = format!(
        "name = \"jfr-step\"\nlayers = [\"{LAYER}\"]\n[sampling]\nsteps = true\n\
         [[program]]\nname = \"program\"\nhooks = \"none\"\nbaseline = false\n\
         fixtures = {{ names = [\"tiny-leaves\"], seconds = 1 }}\n"
    );
    let ran = support::run_scenario(&jdk, &scenario, 1, &[]);
    let of_run = &ran.report.runs[0];
    assert_eq!((&of_run.exit, &of_run.invalid), (&Exit::Code(0), &None));
    assert_eq!(ran.code, Some(3), "{:?}", of_run.notes);
    assert_eq!(of_run.steps.as_ref().map_or(0, |steps| steps.steps), 0);
}
