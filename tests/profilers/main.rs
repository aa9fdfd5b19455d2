//! Scenario `profilers`: each profiler has a profile beside the true one, and a walker that names callers on purpose is
//! told as biased.

#[path = "../support/mod.rs"]
mod support;

use oracle::Layer;
use oracle::bias::{MethodBias, Pairs, Sampler, Summary, TrueProfile};
use oracle::mutants::Bias;
use oracle::report::Exit;
use scenarios::scenario::BUILT_IN;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use support::{Deadline, jdks, seeds};

/// The value of the scenario's axis with the profilers that sample by signals.
const SIGNALS: &str = "signals";

/// The scenario with these profilers, and a program of a few seconds in place of its programs.
fn scenario(has: impl Fn(&str) -> bool) -> String {
    let mut built_in = BUILT_IN.iter();
    let (_, text) = built_in
        .find(|(name, _)| *name == "profilers")
        .expect("it is built in");
    let (head, _) = text.split_once("[[program]]").expect("it has programs");
    let mut head: toml::Table = head.parse().expect("TOML");
    let profilers = head["matrix"]["axes"]["profiler"].as_table_mut();
    let profilers = profilers.expect("the profilers");
    profilers.retain(|name, _| has(name));
    assert!(!profilers.is_empty());
    format!(
        "{head}\n[[program]]\nname = \"program\"\nbaseline = false\n\n\
         fixtures = {{ names = [\"dispatch-interface\", \"hash-maps\", \"sorting\"], seconds = 3 }}\n"
    )
}

/// What each profiler of a run has seen, by the value of the run's axis.
type Seen = BTreeMap<(String, Sampler), Pairs>;

fn run(jdk: &Path, scenario: &str, seed: u64, options: &[&str]) -> Seen {
    let ran = support::run_scenario(jdk, scenario, seed, options);
    for run in &ran.report.runs {
        assert_eq!(
            (&run.exit, &run.invalid),
            (&Exit::Code(0), &None),
            "{jdk:?}"
        );
    }
    let runs = ran.report.runs.into_iter();
    let all = runs.flat_map(|run| {
        let profiler = run.axes["profiler"].clone();
        let pairs = run.bias.into_iter();
        pairs.map(move |(sampler, pairs)| ((profiler.clone(), sampler), pairs))
    });
    all.collect()
}

/// The run of all profilers with this seed. Tests that want the same run share it: the first of them makes it.
fn shared(jdk: &Path, seed: u64) -> Seen {
    static MADE: Mutex<BTreeMap<(PathBuf, u64), Seen>> = Mutex::new(BTreeMap::new());
    // A run that fails another test fails this one, too.
    let mut made = MADE.lock().expect("the run of another test");
    let seen = made.entry((jdk.into(), seed));
    seen.or_insert_with(|| run(jdk, &scenario(|_| true), seed, &[]))
        .clone()
}

#[test]
fn each_profiler_has_a_profile_beside_the_true_one() {
    const ENOUGH: u64 = 50;
    let of = |profiler: &str, layer| (profiler.to_owned(), Sampler::Walker(layer));
    let mut expected = vec![
        of(SIGNALS, Layer::AsgctAsync),
        (SIGNALS.to_owned(), Sampler::Safepoint),
        of("dumps", Layer::JavaAll),
        of("jfr", Layer::Jfr),
    ];
    if !support::cannot_step() {
        expected.push(of(SIGNALS, Layer::AsgstAsync));
    }
    for jdk in jdks() {
        let mut most: BTreeMap<(String, Sampler), u64> = BTreeMap::new();
        // On a busy machine a profiler may have no answer in a run.
        most.extend(expected.iter().map(|of| (of.clone(), 0)));
        for seed in seeds(&format!("{jdk:?}: waiting for profiles")) {
            for (of, pairs) in shared(&jdk, seed) {
                let summary = Summary::alone(&pairs);
                assert!(summary.renamed <= summary.answered && summary.windows <= summary.answered);
                let answered = most.entry(of).or_default();
                *answered = summary.answered.max(*answered);
            }
            println!("{jdk:?}: {most:?}");
            if most.values().all(|&answered| answered >= ENOUGH) {
                break;
            }
        }
    }
}

/// How many standard deviations the share of a method may differ between two profilers of one JVM. Chance exceeds them in
/// less than one of 10^8 comparisons.
const DEVIATIONS: f64 = 6.0;

/// Profilers that take turns are asked at instants of one kind. So the hottest methods have one share in the truths of
/// all, whatever a profiler cannot answer.
#[test]
fn the_profilers_of_a_jvm_have_one_truth() {
    const INSTANTS: u64 = 3000;
    for jdk in jdks() {
        let deadline = Deadline::new(format!("{jdk:?}: waiting for instants"));
        let mut sums: BTreeMap<Sampler, Pairs> = BTreeMap::new();
        for seed in 1.. {
            deadline.check();
            for ((profiler, sampler), pairs) in shared(&jdk, seed) {
                if profiler == SIGNALS {
                    sums.entry(sampler).or_default().merge(&pairs);
                }
            }
            if !sums.is_empty() && sums.values().all(|pairs| pairs.instants() >= INSTANTS) {
                break;
            }
        }
        let truth = TrueProfile::of_run(&sums);
        let summary = |pairs| Summary::new(pairs, &truth);
        let rows: Vec<(Sampler, Summary)> = sums
            .iter()
            .map(|(&of, pairs)| (of, summary(pairs)))
            .collect();
        assert!(rows.len() >= 2, "{jdk:?}: {:?}", sums.keys());
        for method in rows[0].1.methods.iter().take(5) {
            for (sampler, row) in &rows {
                let own = row
                    .methods
                    .iter()
                    .find(|of| of.name == method.name)
                    .expect("all rows have all methods");
                assert_eq!(own.true_share, method.true_share);
                let share = own.truth as f64 / row.instants as f64;
                println!(
                    "{jdk:?} {sampler}: {} {share:.4} of its instants, {:.4} of all",
                    own.name, own.true_share
                );
                let deviation =
                    (own.true_share * (1.0 - own.true_share) / row.instants as f64).sqrt();
                let off = (share - own.true_share).abs();
                assert!(
                    off <= DEVIATIONS * deviation,
                    "{jdk:?} {sampler}: {own:?}: {share}"
                );
            }
        }
        let overlap = |of: Sampler| {
            rows.iter()
                .find(|(sampler, _)| *sampler == of)
                .and_then(|(_, row)| row.overlap)
        };
        let at_safepoint = overlap(Sampler::Safepoint).expect("it answered");
        for (sampler, row) in rows.iter().filter(|(of, _)| *of != Sampler::Safepoint) {
            assert!(
                row.overlap.is_some_and(|overlap| overlap > at_safepoint),
                "{jdk:?} {sampler}: {at_safepoint}"
            );
        }
    }
}

/// A loss of a method that has one answer in a hundred, of which one in three goes to a caller, is certain from far fewer
/// answers on.
const MOST_ANSWERS: u64 = 30_000;

/// One answer of three without its top frame: the callers win what the methods lose.
#[test]
fn a_walker_that_names_callers_on_purpose_is_told_as_biased() {
    let asgct = (SIGNALS.to_owned(), Sampler::Walker(Layer::AsgctAsync));
    let scenario = scenario(|profiler| profiler == SIGNALS);
    for jdk in jdks().into_iter().take(1) {
        let mut sum = Pairs::default();
        for seed in seeds(&format!("{jdk:?}: waiting for faults")) {
            let options = ["--fault", "drop-top:asgct-async:3"];
            let mut all = run(&jdk, &scenario, seed, &options);
            sum.merge(&all.remove(&asgct).unwrap_or_default());
            let summary = Summary::alone(&sum);
            println!(
                "{jdk:?}: {} of {} renamed",
                summary.renamed, summary.answered
            );
            // The methods that lose have about one answer in a hundred. On a busy machine no loss was certain after
            // 4,255 answers once.
            let loses = |of: &MethodBias| of.is_certain && of.naming.high < 0.0;
            let is_certain = summary.methods.iter().any(loses);
            if summary.answered < 4000 || !is_certain && summary.answered < MOST_ANSWERS {
                continue;
            }
            // Where the top frame has no hook, the same method stays the newest.
            assert!(summary.renamed > 0, "{jdk:?}");
            assert!(is_certain, "{jdk:?}");
            assert!(summary.is_biased());
            break;
        }
    }
}

/// The instants that the method needs. One name of twenty is then lost some fifty times, and a loss is
/// certain from some twenty on: the exact test of the names of a hundred methods needs 2^(1-k) < 0.001 / 200. Fewer
/// than twenty losses have a probability below 10^-6.
const INSTANTS: u64 = 1000;

/// A method that runs often, and is called by others.
const LOSES: &str = "stackwitness.fixtures.MutualRecursion.male";

/// The profile of a walker that knows the truth, in one run of a JVM that is long enough.
fn profile_of(jdk: &Path, bias: Bias, seed: u64) -> Summary {
    let deadline = Deadline::new(format!("{jdk:?} {}: waiting for instants", bias.name()));
    let mut seconds = 3;
    loop {
        deadline.check();
        let scenario = format!(
            "name = \"biased\"\nlayers = [\"asgct-async\"]\n[sampling]\nno_pause = true\ngst_every = 0\n\
             [budget]\nasgct-async = 1\n[imprecise_budget]\nasgct-async = 1\n\
             [[program]]\nname = \"program\"\nbaseline = false\n\
             fixtures = {{ names = [\"mutual-recursion\"], seconds = {seconds} }}\n"
        );
        let ran = support::run_scenario(
            jdk,
            &scenario,
            seed,
            &["--biased", &format!("{}:{LOSES}", bias.name())],
        );
        let mut bias_of = ran.report.runs.into_iter().next().expect("it ran").bias;
        let pairs = bias_of.remove(&Sampler::Walker(Layer::AsgctAsync));
        let summary = Summary::alone(&pairs.unwrap_or_default());
        let ran = summary.methods.iter().find(|of| is_loser(of));
        if ran.is_some_and(|of| of.truth >= INSTANTS) {
            return summary;
        }
        seconds *= 2;
    }
}

fn is_loser(of: &MethodBias) -> bool {
    of.name.split('(').next() == Some(LOSES)
}

/// Whether the walker is told as biased. If so, it must be told against which method.
fn is_told(summary: &Summary, bias: Bias) -> bool {
    let loses = |of: &&MethodBias| of.is_certain && of.total.high < 0.0;
    let losers: Vec<&MethodBias> = summary.methods.iter().filter(loses).collect();
    match bias {
        Bias::Honest => {
            assert_eq!((summary.renamed, summary.answered), (0, summary.instants));
        }
        Bias::DropsOne => assert!(losers.iter().all(|of| of.naming.value == 0.0)),
        Bias::NamesCaller => assert_eq!(summary.answered, summary.instants),
    }
    let is_biased = summary.is_biased();
    assert_eq!(losers.len(), usize::from(is_biased), "{losers:#?}");
    assert!(losers.iter().all(|of| is_loser(of)), "{losers:#?}");
    is_biased
}

#[test]
fn walkers_that_are_biased_on_purpose_are_told_and_an_honest_one_is_not() {
    for jdk in jdks().into_iter().take(1) {
        for bias in Bias::ALL {
            let summary = profile_of(&jdk, bias, 1);
            assert_eq!(
                is_told(&summary, bias),
                bias != Bias::Honest,
                "{jdk:?} {bias:?}"
            );
        }
    }
}

/// The table of docs/results/profiles.md, on each JDK.
#[test]
#[ignore = "takes many minutes: 60 runs on each JDK"]
fn biased_walkers_in_twenty_runs_each() {
    const RUNS: u64 = 20;
    for jdk in jdks() {
        for bias in Bias::ALL {
            let (mut told, mut instants) = (0, vec![]);
            for seed in 1..=RUNS {
                let summary = profile_of(&jdk, bias, seed);
                told += u64::from(is_told(&summary, bias));
                instants.push(summary.instants);
            }
            instants.sort_unstable();
            let (least, most) = (instants[0], instants[instants.len() - 1]);
            println!(
                "{}, {}: told as biased in {told} of {RUNS} runs of {least} to {most} instants",
                jdk.display(),
                bias.name()
            );
            let expected = if bias == Bias::Honest { 0 } else { RUNS };
            assert_eq!(told, expected, "{jdk:?} {bias:?}");
        }
    }
}
