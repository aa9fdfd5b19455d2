//! Files of real runs, joined and judged without a JVM. `tests/recorded` has a folder for each run: what the agent
//! wrote, without the methods that do not occur, and JFR's recording.

use flate2::read::GzDecoder;
use joining::faults::Injector;
use joining::file::RequestsFile;
use joining::hottest::{named, stacks};
use joining::methods::NamedMethods;
use joining::run::{Counts, judge_all};
use oracle::Layer;
use oracle::bias::Claim;
use oracle::mutants::{Detection, FaultKind};
use oracle::record::FaultCount;
use oracle::trace::HookId;
use recordings::samples::{self, TimedSamples};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

fn open(run: &str, name: &str) -> impl BufRead {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let path = folder.join(run).join(name);
    let file = File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    BufReader::new(GzDecoder::new(file))
}

fn read(run: &str) -> (RequestsFile, TimedSamples) {
    let file = RequestsFile::read(open(run, "requests.jsonl.gz")).expect("it can be read");
    let samples = samples::read(
        &mut open(run, "requests.jfr.gz"),
        &samples::Wanted::of_jfr(),
    )
    .expect("it can be read");
    assert_eq!(samples.cut, None, "{run}");
    (file, samples)
}

/// Joins the run, and injects each fault in each event without a mismatch.
fn judge(file: &RequestsFile, samples: &TimedSamples, layer: Layer) -> (Counts, Vec<FaultCount>) {
    let mut methods = NamedMethods::new(&file.methods);
    let kinds = FaultKind::ALL.into_iter();
    let kinds: Vec<_> = kinds.filter(|&kind| kind != FaultKind::Error).collect();
    let mut injector = Injector::new(&kinds, 1);
    let counts = judge_all(
        (file, None),
        samples,
        &mut methods,
        &[layer],
        |judged, methods| {
            if let (Some((walk, truth)), false) = (judged.compared, judged.judgement.differs()) {
                injector.inject(layer, walk, truth, methods);
                injector.shift_line(layer, walk, truth, methods);
            }
        },
    );
    (counts, injector.counts)
}

const RUNS: [(&str, Layer); 4] = [
    ("17", Layer::Jfr),
    ("21", Layer::Jfr),
    ("25", Layer::Jfr),
    ("25-cpu", Layer::JfrCpu),
];

#[test]
fn each_event_is_joined_and_agrees_with_the_truth() {
    for (run, layer) in RUNS {
        let (file, samples) = read(run);
        let (counts, _) = judge(&file, &samples, layer);
        let (joined, tally) = (&counts.joined[&layer], &counts.tallies[&layer]);
        println!("{run}: {joined:?} {tally:?}");
        assert!(joined.events >= 20, "{run}");
        assert_eq!(joined.joined, joined.events, "{run}");
        assert_eq!(joined.answered, joined.events, "{run}");
        assert_eq!(joined.requests, file.requests.len() as u64, "{run}");
        assert_eq!(tally.mismatches(), 0, "{run}");
        assert!(tally.matches >= 20, "{run}");
        let unanswered = joined.requests - joined.answered;
        assert_eq!(tally.checks(), joined.events + unanswered, "{run}");
        let biased: u64 = joined.biased.values().sum();
        assert!(tally.unverifiable >= biased, "{run}");
    }
}

#[test]
fn an_event_of_another_time_or_thread_is_not_joined() {
    for (run, layer) in RUNS {
        let (file, samples) = read(run);
        let mut later = samples.clone();
        later
            .samples
            .iter_mut()
            .for_each(|sample| sample.ticks += 10_000_000_000);
        let mut elsewhere = samples.clone();
        elsewhere
            .samples
            .iter_mut()
            .for_each(|sample| sample.os_thread += 1);
        for samples in [later, elsewhere] {
            let (counts, _) = judge(&file, &samples, layer);
            assert_eq!(counts.joined[&layer].joined, 0, "{run}");
            assert_eq!(counts.tallies[&layer].decided(), 0, "{run}");
        }
    }
}

#[test]
fn faults_in_joined_events_are_caught() {
    for (run, layer) in RUNS {
        let (file, samples) = read(run);
        let (_, faults) = judge(&file, &samples, layer);
        let sum = |is: &dyn Fn(&FaultCount) -> bool| -> u64 {
            let counted = faults.iter().filter(|fault| is(fault));
            counted.map(|fault| fault.count).sum()
        };
        let injected = sum(&|_| true);
        let seen = sum(&|fault| !matches!(fault.outcome, Detection::Explained(_)));
        let caught = sum(&|fault| fault.outcome == Detection::Caught);
        println!("{run}: {injected} faults, {caught} of {seen} that can be seen are caught");
        assert!(100 * caught >= 99 * seen, "{run}: {faults:#?}");
        assert!(2 * caught >= injected, "{run}: {faults:#?}");
        for kind in [
            "drop-top",
            "drop-middle",
            "repeat",
            "swap",
            "sibling",
            "top-only",
            "other-line",
        ] {
            let of_kind = sum(&|fault| fault.kind == kind && fault.outcome == Detection::Caught);
            assert!(of_kind > 0, "{run}: no {kind} was caught");
        }
    }
}

/// What a profile gets from one event: the stack that ran, and the stack and the newest method that the event shows.
struct Shown {
    ran: Vec<HookId>,
    newest: String,
    stack: Claim<Vec<HookId>>,
    method: Claim<String>,
}

/// What a profile gets from each event, in the order of `samples`.
fn profile(file: &RequestsFile, samples: &TimedSamples, layer: Layer) -> Vec<Option<Shown>> {
    let mut methods = NamedMethods::new(&file.methods);
    let mut events = vec![];
    judge_all(
        (file, None),
        samples,
        &mut methods,
        &[layer],
        |judged, methods| {
            if judged.sample.is_none() {
                return;
            }
            let both = stacks(judged, methods).zip(named(judged, methods));
            events.push(both.map(|((ran, stack), (newest, method))| Shown {
                ran: ran.to_vec(),
                newest,
                stack,
                method,
            }));
        },
    );
    assert_eq!(events.len(), samples.samples.len(), "each event is seen");
    events
}

#[test]
fn profiles_show_the_stack_of_each_event() {
    for (run, layer) in RUNS {
        let (file, mut samples) = read(run);
        samples
            .samples
            .retain(|sample| !sample.failed && !sample.biased && sample.stack.is_some());
        let honest = profile(&file, &samples, layer);
        let right = honest.iter().flatten();
        let right = right.filter(|shown| matches!(shown.stack, Claim::Same));
        assert!(right.count() >= 10, "{run}: honest events show what ran");

        // Each event gets the stack of the next one. So a profile must show what ran at the next event.
        let mut shifted = samples.clone();
        for (at, sample) in shifted.samples.iter_mut().enumerate() {
            sample.stack = samples.samples[(at + 1) % samples.samples.len()].stack;
        }
        let (mut of_others, mut compared) = (0, 0);
        for (at, shown) in profile(&file, &shifted, layer).iter().enumerate() {
            let (Some(shown), Some(next)) = (shown, &honest[(at + 1) % honest.len()]) else {
                continue;
            };
            if !matches!(next.stack, Claim::Same) {
                continue;
            }
            match (&shown.stack, &shown.method) {
                (Claim::Named(stack), Claim::Named(method)) => {
                    assert_eq!((stack, method), (&next.ran, &next.newest), "{run}");
                    of_others += u64::from(shown.ran != next.ran);
                }
                (Claim::Same, _) => assert_eq!(shown.ran, next.ran, "{run}"),
                _ => continue,
            }
            compared += 1;
        }
        println!(
            "{run}: {compared} events with the stack of the next one, {of_others} of another stack"
        );
        assert!(of_others >= 10, "{run}");
    }
}
