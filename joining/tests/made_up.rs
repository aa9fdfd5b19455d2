//! Made-up requests and events: each event gets the verdict of what was made up.

use hotspot::at_request::RequestProofs;
use hotspot::code::CodeKind;
use joining::file::{Recorded, RequestsFile};
use joining::methods::NamedMethods;
use joining::run::judge_all;
use oracle::Layer;
use oracle::record::JoinCounts;
use oracle::recorded::RecordedTruth;
use oracle::requests::{Copied, MethodFacts, Pin, Request, letter};
use oracle::tally::{Drop, Tally};
use oracle::trace::{Presence, Site};
use proptest::prelude::*;
use recordings::FramePosition;
use recordings::samples::{EXECUTION, TimedSample, TimedSamples, TimedStack};

const TID: i32 = 4711;

/// The methods of the program: method n has the hook n + 1, and the line 10 + BCI.
const METHODS: u32 = 8;

/// A method that is often in the true stack, too.
const ENTERED: u32 = 3;

/// A change of the true stack in an event.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Change {
    Nothing,
    Drop,
    Add,
    Swap,
    OtherMethod,
    OtherLine,
    Cut,
    CutAsSaid,
    Failed,
    Biased,
    OtherThread,
    BetweenRequests,
    StackLost,
    CutAtMark,
    WrongAboveMark,
    EnteredAtMark,
    EnteredAlone,
    MarkAlone,
    Unnamed,
    CutAndUnnamed,
    NotJava,
    Outside,
    AtAnchor,
    InCarrier,
    Repeats,
    Early,
    InHook,
    InHookAlone,
    HookRan,
    HookRanAlone,
    GivenUp,
}

/// What happens in recordings of JFR.
const CHANGES: [Change; 18] = [
    Change::Nothing,
    Change::Drop,
    Change::Add,
    Change::Swap,
    Change::OtherMethod,
    Change::OtherLine,
    Change::Cut,
    Change::CutAsSaid,
    Change::Failed,
    Change::Biased,
    Change::OtherThread,
    Change::BetweenRequests,
    Change::StackLost,
    Change::InHook,
    Change::InHookAlone,
    Change::HookRan,
    Change::HookRanAlone,
    Change::GivenUp,
];

/// What happens in recordings of profilers.
const PROFILERS: [Change; 16] = [
    Change::Nothing,
    Change::Add,
    Change::Cut,
    Change::CutAtMark,
    Change::WrongAboveMark,
    Change::EnteredAtMark,
    Change::EnteredAlone,
    Change::MarkAlone,
    Change::Unnamed,
    Change::CutAndUnnamed,
    Change::NotJava,
    Change::Outside,
    Change::AtAnchor,
    Change::InCarrier,
    Change::Repeats,
    Change::Early,
];

/// Adds a request of a layer and its event to the files. Returns false if the change is not possible for the stack.
fn add(
    layer: Layer,
    (file, samples): (&mut RequestsFile, &mut TimedSamples),
    (at, stack, change): (usize, &[u32], Change),
) -> bool {
    let mut frames: Vec<(u32, FramePosition, i64)> = stack
        .iter()
        .rev()
        .map(|&method| (method, FramePosition::Bci(1), 11))
        .collect();
    let middle = frames.len() / 2;
    let (mut truncated, mut failed, mut biased) = (false, false, false);
    let (mut os_thread, mut early) = (i64::from(TID), 0);
    let mut copied = Copied::Truth(at as u32);
    let mut mark = None;
    let is_possible = match change {
        Change::Swap => frames[0].0 != frames[middle].0,
        Change::Drop | Change::Cut | Change::CutAsSaid | Change::CutAtMark => frames.len() > 2,
        Change::Unnamed | Change::CutAndUnnamed => frames.len() > 2,
        _ => true,
    };
    match change {
        _ if !is_possible => {}
        Change::Nothing => {}
        // Another frame has taken its place, whose method has no name.
        Change::Drop | Change::Unnamed => _ = frames.remove(middle),
        Change::Add => frames.insert(middle, frames[middle]),
        Change::Swap => frames.swap(0, middle),
        Change::OtherMethod => frames[middle].0 = (frames[middle].0 + 1) % METHODS,
        Change::OtherLine => frames[middle].2 += 1,
        // Below the newest frame there may be one without a name, but more are missing.
        Change::Cut | Change::CutAndUnnamed => frames.truncate(1),
        Change::CutAsSaid => {
            frames.truncate(1);
            truncated = true;
        }
        Change::CutAtMark => {
            frames.truncate(1);
            mark = Some("break_compiled".to_owned());
        }
        Change::WrongAboveMark => {
            frames[0].0 = (frames[0].0 + 1) % METHODS;
            mark = Some("break_compiled".to_owned());
        }
        // The method that is being called, at its first instruction.
        Change::EnteredAtMark => {
            frames = vec![(ENTERED, FramePosition::Bci(0), 10)];
            mark = Some("break_interpreted".to_owned());
        }
        Change::EnteredAlone => frames = vec![(ENTERED, FramePosition::Bci(0), 10)],
        Change::MarkAlone => {
            frames.clear();
            mark = Some("unknown_Java".to_owned());
        }
        // A thread without Java frames, and one whose stack the profiler does not find.
        Change::Outside | Change::AtAnchor => frames.clear(),
        Change::NotJava => {
            frames.clear();
            os_thread += 1;
        }
        Change::InCarrier => frames.extend([
            (METHODS, FramePosition::Unknown(None), 0),
            (0, FramePosition::Bci(1), 11),
        ]),
        // A walk before showed the same stack, and nobody walks now.
        Change::Repeats => {}
        // At 100, and the agent began at 200.
        Change::Early => early = 1000 * (at as u64 + 1) - 50,
        // The event would be wrong, if it counted.
        Change::InHook => frames.truncate(1),
        Change::InHookAlone | Change::HookRan | Change::HookRanAlone | Change::GivenUp => {}
        Change::Failed => failed = true,
        Change::Biased => biased = true,
        Change::OtherThread => os_thread += 1,
        Change::BetweenRequests => early = 500,
        Change::StackLost => copied = Copied::Lost(Drop::InDoubt),
    }
    let from = 1000 * (at as u64 + 1);
    let is_outside = [Change::Outside, Change::AtAnchor].contains(&change);
    let entries = stack.iter().map(|method| method + 1);
    file.truths.insert(
        at as u32,
        Recorded::Trace(RecordedTruth {
            entries: entries.filter(|_| !is_outside).collect(),
            ..RecordedTruth::default()
        }),
    );
    file.requests.push(Request {
        layer,
        tid: TID,
        from,
        to: from + 100,
        stack: copied,
        carried: change == Change::InCarrier,
        pc: 0,
        in_hook: matches!(change, Change::InHook | Change::InHookAlone),
        hook_ran: matches!(change, Change::HookRan | Change::HookRanAlone),
        given_up: change == Change::GivenUp,
        proofs: is_outside.then_some(u32::from(change == Change::AtAnchor)),
    });
    if [Change::InHookAlone, Change::HookRanAlone, Change::GivenUp].contains(&change) {
        return is_possible;
    }
    let stack = samples.stacks.len();
    samples.stacks.push(TimedStack {
        frames,
        truncated,
        mark,
        unnamed: match change {
            Change::Unnamed | Change::CutAndUnnamed => vec![0],
            _ => vec![],
        },
        end: None,
    });
    samples.samples.push(TimedSample {
        event: EXECUTION.into(),
        // The JVM's clock began 77 ticks after the agent's.
        ticks: (from + 50 - early) as i64 - 77,
        os_thread,
        stack: (!failed).then_some(stack),
        failed,
        may_repeat: change == Change::Repeats,
        biased,
    });
    if change == Change::Repeats {
        let again = samples.samples.last().expect("it was just added").clone();
        samples.samples.push(TimedSample {
            ticks: again.ticks - 500,
            ..again
        });
    }
    is_possible
}

/// What is seen of a thread in a library, which Java code with this kind of code at its anchor has called.
fn in_library(anchor: Option<CodeKind>) -> RequestProofs {
    let seen = serde_json::json!({ "in_java": false, "code": CodeKind::Library, "anchor": anchor });
    serde_json::from_value(seen).expect("it has all that must be there")
}

fn files() -> (RequestsFile, TimedSamples) {
    let (mut file, mut samples) = (RequestsFile::default(), TimedSamples::default());
    for method in 0..METHODS {
        let code = [Presence::Absent, Presence::Present, Presence::Present];
        let name = format!("m{method}");
        samples
            .methods
            .push(("a/B".into(), name.clone(), "()V".into()));
        let facts = MethodFacts {
            class: "a/B".into(),
            name,
            descriptor: "()V".into(),
            hook: Some(method + 1),
            code: code
                .map(|presence| letter(Site::Calls, Some(presence)))
                .iter()
                .collect(),
            lines: (0..3).map(|bci| (bci, 10 + bci)).collect(),
            ..MethodFacts::default()
        };
        file.methods.insert(method, facts);
    }
    // The frame between a virtual thread and its carrier, which is not hooked.
    let name = ["jdk/internal/vm/Continuation", "enterSpecial", "()V"];
    let [class, name, descriptor] = name.map(str::to_owned);
    samples
        .methods
        .push((class.clone(), name.clone(), descriptor.clone()));
    let special = MethodFacts {
        class,
        name,
        descriptor,
        is_native: true,
        ..MethodFacts::default()
    };
    file.methods.insert(METHODS, special);
    file.since = 200;
    for (number, anchor) in [(0, None), (1, Some(CodeKind::Interpreter))] {
        file.proofs.insert(number, in_library(anchor));
    }
    file.pins = vec![Pin {
        before: 1000,
        ticks: 1000 - 77,
        behind: 1000,
    }];
    (file, samples)
}

fn judged(layer: Layer, file: &RequestsFile, samples: &TimedSamples) -> (JoinCounts, Tally) {
    let mut methods = NamedMethods::new(&file.methods);
    let layers = [layer];
    let mut counts = judge_all((file, None), samples, &mut methods, &layers, |_, _| {});
    let joined = counts.joined.remove(&layer).expect("it was asked for");
    (
        joined,
        counts.tallies.remove(&layer).expect("it was asked for"),
    )
}

proptest! {
    #[test]
    fn each_event_counts_as_what_it_is(
        events in prop::collection::vec((prop::collection::vec(0..METHODS, 2..12), prop::sample::select(&CHANGES[..])), 1..60),
    ) {
        let (mut file, mut samples) = files();
        let mut made = vec![];
        for (at, (stack, change)) in events.iter().enumerate() {
            let is_possible = add(Layer::Jfr, (&mut file, &mut samples), (at, stack, *change));
            made.push(if is_possible { *change } else { Change::Nothing });
        }
        let count = |these: &[Change]| made.iter().filter(|change| these.contains(change)).count() as u64;
        let (joined, tally) = judged(Layer::Jfr, &file, &samples);
        let apart = count(&[Change::OtherThread, Change::BetweenRequests]);
        let of_hooks = [Change::InHook, Change::InHookAlone, Change::HookRan, Change::HookRanAlone];
        prop_assert_eq!(joined.in_hooks, count(&of_hooks));
        let given_up = count(&[Change::GivenUp]);
        prop_assert_eq!(joined.given_up, given_up);
        let without = count(&[Change::InHook, Change::InHookAlone, Change::HookRanAlone]) + given_up;
        prop_assert_eq!(joined.events, made.len() as u64 - without);
        prop_assert_eq!(joined.joined, joined.events - apart);
        prop_assert_eq!(joined.requests - joined.answered, apart + given_up);
        prop_assert_eq!(joined.failed, count(&[Change::Failed]));
        prop_assert_eq!(joined.biased.get("match").copied().unwrap_or(0), count(&[Change::Biased]));
        prop_assert_eq!(tally.matches, count(&[Change::Nothing, Change::HookRan]));
        let wrong = count(&[Change::Drop, Change::Add, Change::Swap, Change::OtherMethod, Change::OtherLine]);
        let cut = count(&[Change::Cut]);
        prop_assert_eq!(tally.mismatches(), wrong + cut);
        // A stack that lacks its middle may look cut if the rest is equal frames.
        prop_assert!(tally.truncated >= cut && tally.truncated <= cut + count(&[Change::Drop]));
        let unanswered = apart;
        prop_assert_eq!(tally.errors(), count(&[Change::Failed]) + unanswered);
        let unsure = [Change::CutAsSaid, Change::Biased, Change::OtherThread, Change::BetweenRequests, Change::StackLost];
        prop_assert_eq!(tally.unverifiable, count(&unsure));
        prop_assert_eq!(tally.drops(), count(&[Change::StackLost]));
    }

    #[test]
    fn a_profiler_is_believed_where_it_says_that_it_stopped(
        events in prop::collection::vec((prop::collection::vec(0..METHODS, 2..12), prop::sample::select(&PROFILERS[..])), 1..60),
        by_system in any::<bool>(),
    ) {
        let (mut file, mut samples) = files();
        if by_system {
            // The recording has the system's clock; the JVM's clock leads nowhere.
            file.monotonic = std::mem::take(&mut file.pins);
            file.pins = vec![Pin { before: 5, ticks: 1 << 40, behind: 6 }];
        }
        let mut made = vec![];
        for (at, (stack, change)) in events.iter().enumerate() {
            let is_possible = add(Layer::Profiler, (&mut file, &mut samples), (at, stack, *change));
            made.push(if is_possible { *change } else { Change::Nothing });
        }
        let count = |these: &[Change]| made.iter().filter(|change| these.contains(change)).count() as u64;
        let (joined, tally) = judged(Layer::Profiler, &file, &samples);
        prop_assert_eq!(joined.other_threads, count(&[Change::NotJava, Change::Outside]));
        prop_assert_eq!(joined.requests, joined.answered + count(&[Change::NotJava, Change::Early]));
        prop_assert_eq!(joined.early, count(&[Change::Early]));
        prop_assert_eq!(joined.repeated, count(&[Change::Repeats]));
        prop_assert_eq!(joined.events, made.len() as u64 - joined.other_threads - joined.early);
        prop_assert_eq!(joined.joined, joined.events);
        prop_assert_eq!(joined.said, count(&[Change::CutAtMark, Change::WrongAboveMark, Change::EnteredAtMark, Change::MarkAlone]));
        prop_assert_eq!(joined.failed, count(&[Change::MarkAlone]));
        prop_assert_eq!(tally.matches, count(&[Change::Nothing, Change::InCarrier, Change::Repeats]));
        prop_assert_eq!(tally.unverifiable, count(&[Change::CutAtMark, Change::EnteredAtMark, Change::Unnamed, Change::AtAnchor]));
        prop_assert_eq!(tally.mismatches(), count(&[Change::Add, Change::Cut, Change::CutAndUnnamed, Change::WrongAboveMark, Change::EnteredAlone]));
        prop_assert_eq!(tally.errors(), count(&[Change::MarkAlone, Change::NotJava, Change::Early]));
    }
}
