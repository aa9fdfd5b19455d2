//! Scenario `profilers`: each profiler has a profile beside the true one, and a walker that names callers on purpose is
//! told as biased.

#[path = "../support/mod.rs"]
mod support;

use oracle::Layer;
use oracle::bias::{MethodBias, Pairs, Sampler, Summary};
use oracle::report::{Exit, Report};
use scenarios::scenario::BUILT_IN;
use std::collections::BTreeMap;
use std::path::Path;
use support::{Deadline, jdks};

/// The scenario, with a program of a few seconds in place of its programs.
fn scenario() -> String {
    let mut built_in = BUILT_IN.iter();
    let (_, text) = built_in
        .find(|(name, _)| *name == "profilers")
        .expect("it is built in");
    let (head, _) = text.split_once("[[program]]").expect("it has programs");
    format!(
        "{head}[[program]]\nname = \"program\"\nbaseline = false\n\n\
         fixtures = {{ names = [\"dispatch-interface\", \"hash-maps\", \"sorting\"], seconds = 3 }}\n"
    )
}

fn run(jdk: &Path, seed: u64, options: &[&str]) -> Report {
    let ran = support::run_scenario(jdk, &scenario(), seed, options);
    for run in &ran.report.runs {
        assert_eq!(
            (&run.exit, &run.invalid),
            (&Exit::Code(0), &None),
            "{jdk:?}"
        );
    }
    ran.report
}

/// Each run of the profilers by the value of its axis.
fn pairs(report: Report) -> BTreeMap<(String, Sampler), Pairs> {
    let runs = report.runs.into_iter();
    let all = runs.flat_map(|run| {
        let profiler = run.axes["profiler"].clone();
        let pairs = run.bias.into_iter();
        pairs.map(move |(sampler, pairs)| ((profiler.clone(), sampler), pairs))
    });
    all.collect()
}

#[test]
fn each_profiler_has_a_profile_beside_the_true_one() {
    for jdk in jdks() {
        let deadline = Deadline::new(format!("{jdk:?}: waiting for profiles"));
        let mut most: BTreeMap<(String, Sampler), u64> = BTreeMap::new();
        for seed in 1.. {
            deadline.check();
            for (of, pairs) in pairs(run(&jdk, seed, &[])) {
                let summary = Summary::new(&pairs);
                assert!(summary.renamed <= summary.answered && summary.windows <= summary.answered);
                let answered = most.entry(of).or_default();
                *answered = summary.answered.max(*answered);
            }
            if most.values().all(|&answered| answered >= 50) {
                break;
            }
        }
        println!("{jdk:?}: {most:?}");
        let of = |profiler: &str, layer| (profiler.to_owned(), Sampler::Walker(layer));
        let mut expected = vec![
            of("signals", Layer::AsgctAsync),
            ("signals".to_owned(), Sampler::Safepoint),
            of("jfr", Layer::Jfr),
        ];
        if cfg!(target_arch = "x86_64") {
            expected.push(of("signals", Layer::AsgstAsync));
        }
        for of in expected {
            assert!(most.contains_key(&of), "{jdk:?}: {of:?} is not in {most:?}");
        }
    }
}

/// One answer of three without its top frame: the callers win what the methods lose.
#[test]
fn a_walker_that_names_callers_on_purpose_is_told_as_biased() {
    let asgct = ("signals".to_owned(), Sampler::Walker(Layer::AsgctAsync));
    for jdk in jdks().into_iter().take(1) {
        let deadline = Deadline::new(format!("{jdk:?}: waiting for faults"));
        let mut sum = Pairs::default();
        for seed in 1.. {
            deadline.check();
            let mut all = pairs(run(&jdk, seed, &["--fault", "drop-top:asgct-async:3"]));
            sum.merge(&all.remove(&asgct).unwrap_or_default());
            let summary = Summary::new(&sum);
            println!(
                "{jdk:?}: {} of {} renamed",
                summary.renamed, summary.answered
            );
            // The methods that lose have about one answer in a hundred. Once no loss was certain after 2,257
            // answers.
            if summary.answered < 4000 {
                continue;
            }
            // Where the top frame has no hook, the same method stays the newest.
            assert!(summary.renamed > 0, "{jdk:?}");
            let loses = |of: &MethodBias| of.is_certain && of.naming.high < 0.0;
            assert!(summary.methods.iter().any(loses), "{jdk:?}");
            assert!(summary.is_biased());
            break;
        }
    }
}
