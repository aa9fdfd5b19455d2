//! Made-up requests at steps, and events: each event gets the verdict of what was made up, and faults in its place are
//! caught.

use joining::evidence::Mismatches;
use joining::faults::Injector;
use joining::file::{Recorded, RequestsFile};
use joining::methods::NamedMethods;
use joining::run::judge_all;
use oracle::Layer;
use oracle::mutants::{Detection, FaultKind};
use oracle::record::{CodeCounts, JoinCounts};
use oracle::requests::{Copied, MethodFacts, MethodName, Pin, RecordedSteps, Request, SeenCode};
use oracle::tally::Tally;
use proptest::prelude::*;
use recordings::FramePosition;
use recordings::samples::{CPU_TIME, TimedSample, TimedSamples, TimedStack};

const LAYER: Layer = Layer::JfrCpuStep;
const TID: i32 = 4711;

/// The methods of the program: method n is named mn, and has the line 10 + BCI.
const METHODS: u32 = 8;

/// The code at all requests.
const KIND: &str = "nmethod tier 4";

/// What is special about an event.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Case {
    True,
    /// The frame at the top is being built: both stacks are true.
    WithoutTop,
    /// The top is that of a neighbouring debug info record.
    OtherRecord,
    /// The BCI of the top is not known.
    AnyTop,
    Drop,
    OtherMethod,
    OtherBci,
    OtherLine,
    Cut,
    CutAsSaid,
    Failed,
    Biased,
    BiasedWrong,
    /// The steps do not show the frames.
    NoTruth,
    /// The event is that of a virtual thread.
    Carried,
    OtherThread,
}

use Case::*;

const CASES: [Case; 16] = [
    True,
    WithoutTop,
    OtherRecord,
    AnyTop,
    Drop,
    OtherMethod,
    OtherBci,
    OtherLine,
    Cut,
    CutAsSaid,
    Failed,
    Biased,
    BiasedWrong,
    NoTruth,
    Carried,
    OtherThread,
];

/// A made-up stack: methods and BCIs, top first. No method follows itself.
type Made = Vec<(u32, i32)>;

fn stack() -> impl Strategy<Value = Made> {
    prop::collection::vec((0..METHODS - 1, 0i32..3), 3..12).prop_map(|mut frames| {
        for at in 1..frames.len() {
            if frames[at].0 == frames[at - 1].0 {
                frames[at].0 = METHODS - 1;
            }
        }
        frames
    })
}

fn add(
    (file, samples): (&mut RequestsFile, &mut TimedSamples),
    (at, made, case): (usize, &Made, Case),
) {
    let known = |&(method, bci): &(u32, i32)| (method, Some(bci));
    let callers: Vec<_> = made[1..].iter().map(known).collect();
    let (method, bci) = made[0];
    let own = (vec![(method, Some(bci))], true);
    let tops = match case {
        WithoutTop => vec![own, (vec![], true)],
        OtherRecord => vec![
            (vec![(method, Some(bci + 1))], true),
            (vec![(method, Some(bci))], false),
        ],
        AnyTop => vec![(vec![(method, None)], true)],
        NoTruth => vec![],
        _ => vec![own],
    };
    let truth = RecordedSteps { tops, callers };
    let mut frames: Vec<(u32, FramePosition, i64)> = made
        .iter()
        .map(|&(method, bci)| (method, FramePosition::Bci(bci), 10 + i64::from(bci)))
        .collect();
    let middle = frames.len() / 2;
    match case {
        WithoutTop => _ = frames.remove(0),
        AnyTop => (frames[0].1, frames[0].2) = (FramePosition::Bci(7 - bci), 17 - i64::from(bci)),
        Drop => _ = frames.remove(middle),
        OtherMethod | BiasedWrong => frames[middle].0 = METHODS,
        OtherBci => (frames[middle].1, frames[middle].2) = (FramePosition::Bci(5), 15),
        OtherLine => frames[middle].2 += 1,
        Cut | CutAsSaid => frames.truncate(2),
        _ => {}
    }
    let from = 1000 * (at as u64 + 1);
    file.truths.insert(at as u32, Recorded::Steps(truth));
    file.requests.push(Request {
        layer: LAYER,
        tid: TID,
        from,
        to: from + 100,
        stack: Copied::Truth(at as u32),
        carried: case == Carried,
        // Two requests come to one instruction.
        pc: at / 2,
        in_hook: false,
        hook_ran: false,
        given_up: false,
        proofs: None,
    });
    let code = SeenCode {
        kind: KIND.into(),
        ..SeenCode::default()
    };
    file.codes.insert(at / 2, code);
    samples.stacks.push(TimedStack {
        frames,
        truncated: case == CutAsSaid,
        mark: None,
        unnamed: vec![],
        end: None,
    });
    samples.samples.push(TimedSample {
        event: CPU_TIME.into(),
        // The JVM's clock began 77 ticks after the agent's.
        ticks: (from + 50) as i64 - 77,
        os_thread: match case {
            Carried => 0,
            OtherThread => i64::from(TID) + 1,
            _ => i64::from(TID),
        },
        stack: (case != Failed).then_some(at),
        failed: case == Failed,
        may_repeat: false,
        biased: matches!(case, Biased | BiasedWrong),
    });
}

/// The files of a program in which only the names of steps' methods and their lines are known, as without hooks.
fn files() -> (RequestsFile, TimedSamples) {
    let (mut file, mut samples) = (RequestsFile::default(), TimedSamples::default());
    for method in 0..=METHODS {
        let (class, name, descriptor) = ("a/B", format!("m{method}"), "()V");
        let named = (class.to_owned(), name.clone(), descriptor.to_owned());
        samples.methods.push(named);
        let facts = MethodFacts {
            class: class.into(),
            name: name.clone(),
            descriptor: descriptor.into(),
            lines: (0..9).map(|bci| (bci, 10 + bci)).collect(),
            ..MethodFacts::default()
        };
        file.methods.insert(100 + method, facts);
        let name = MethodName {
            class: class.into(),
            name,
            descriptor: descriptor.into(),
        };
        file.names.insert(method, name);
    }
    file.pins = vec![Pin {
        before: 1000,
        ticks: 1000 - 77,
        behind: 1000,
    }];
    (file, samples)
}

/// Judges all events, and injects each fault in those without a mismatch. The last number is that of mismatches in
/// reports.
fn judged(file: &RequestsFile, samples: &TimedSamples) -> (JoinCounts, Tally, Vec<Detection>, u64) {
    let mut methods = NamedMethods::new(&file.methods);
    let kinds: Vec<_> = FaultKind::ALL
        .into_iter()
        .filter(|&kind| kind != FaultKind::Error)
        .collect();
    let mut injector = Injector::new(&kinds, 1);
    let mut mismatches = Mismatches::new(100, false);
    let mut counts = judge_all(
        (file, None),
        samples,
        &mut methods,
        &[LAYER],
        |judged, methods| {
            mismatches.add(judged, methods);
            if let (Some((walk, truth)), false) = (judged.compared, judged.judgement.differs()) {
                injector.inject(LAYER, walk, truth, methods);
                injector.shift_line(LAYER, walk, truth, methods);
            }
        },
    );
    let joined = counts.joined.remove(&LAYER).expect("it was asked for");
    let tally = counts.tallies.remove(&LAYER).expect("it was asked for");
    let outcomes = injector.counts.iter().map(|count| count.outcome);
    let (_, kinds) = mismatches.kinds();
    let reported = kinds.iter().map(|kind| kind.count).sum();
    (joined, tally, outcomes.collect(), reported)
}

proptest! {
    #[test]
    fn each_event_counts_as_what_it_is(
        events in prop::collection::vec((stack(), prop::sample::select(&CASES[..])), 1..60),
    ) {
        let (mut file, mut samples) = files();
        for (at, (made, case)) in events.iter().enumerate() {
            add((&mut file, &mut samples), (at, made, *case));
        }
        let count = |these: &[Case]| events.iter().filter(|(_, case)| these.contains(case)).count() as u64;
        let (joined, tally, outcomes, reported) = judged(&file, &samples);
        let apart = count(&[OtherThread]);
        prop_assert_eq!(joined.events, events.len() as u64);
        prop_assert_eq!(joined.joined, joined.events - apart);
        prop_assert_eq!(joined.requests - joined.answered, apart);
        prop_assert_eq!(joined.failed, count(&[Failed]));
        let biased = joined.biased.get("match").copied().unwrap_or(0);
        prop_assert_eq!(biased, count(&[Biased]));
        let biased = joined.biased.get("wrong").copied().unwrap_or(0);
        prop_assert_eq!(biased, count(&[BiasedWrong]));
        prop_assert_eq!(reported, tally.mismatches() + tally.imprecise);
        prop_assert_eq!(tally.matches, count(&[True, WithoutTop, AnyTop, Carried]));
        prop_assert_eq!(tally.imprecise, count(&[OtherRecord]));
        prop_assert_eq!(tally.wrong, count(&[Drop, OtherMethod, OtherBci, OtherLine]));
        prop_assert_eq!(tally.truncated, count(&[Cut]));
        prop_assert_eq!(tally.errors(), count(&[Failed]) + apart);
        prop_assert_eq!(tally.unverifiable, count(&[CutAsSaid, Biased, BiasedWrong, NoTruth, OtherThread]));
        let none = CodeCounts::default();
        let codes = joined.codes.get(KIND).unwrap_or(&none);
        let of_codes = codes.verdicts.values().chain(codes.biased.values()).sum::<u64>();
        prop_assert_eq!(of_codes, joined.joined + apart);
        prop_assert!(codes.instructions <= joined.requests.div_ceil(2));
        prop_assert_eq!(codes.verdicts.get("imprecise").copied().unwrap_or(0), tally.imprecise);
        let is_good = |outcome: &Detection| matches!(outcome, Detection::Caught | Detection::Explained(_));
        prop_assert!(outcomes.iter().all(is_good), "{outcomes:?}");
        let is_clean = count(&[True, WithoutTop, Carried]) > 0;
        prop_assert!(!is_clean || outcomes.contains(&Detection::Caught));
    }
}
