//! The mismatches of joined events in the form of reports.

use crate::causes::cause;
use crate::judging::OwnedWalk;
use crate::methods::NamedMethods;
use crate::run::Judged;
use crate::truths::{OwnedTruth, TraceStack};
use oracle::record::{Address, CauseName, Evidence, KindCount, Mismatch, ShownFrame};
use oracle::trace::Frame;
use oracle::{Layer, StepFrame, StepTruth, Verdict};
use std::collections::{BTreeMap, HashMap};

/// Mismatches of a run: some with their evidence, all counted.
#[derive(Debug, Default)]
pub struct Mismatches {
    /// The first few of each kind.
    pub kept: Vec<Mismatch>,
    counts: HashMap<Kind, u64>,
    room: Room,
    by_profiler: bool,
}

/// Which mismatches are kept.
#[derive(Debug, Default)]
struct Room {
    /// How many are kept of each kind.
    of_place: HashMap<Kind, usize>,
    /// The same at all places.
    everywhere: HashMap<(Layer, Verdict, Option<CauseName>), usize>,
    /// The most of a layer, verdict and cause.
    limit: usize,
}

impl Room {
    /// Whether another mismatch of this kind is kept.
    fn takes(&mut self, kind: Kind) -> bool {
        let (layer, verdict, cause, _) = &kind;
        let everywhere = (*layer, *verdict, cause.clone());
        let everywhere = self.everywhere.entry(everywhere).or_default();
        let of_place = self.of_place.entry(kind).or_default();
        let takes = *of_place < OF_ONE_PLACE && *everywhere < self.limit;
        if takes {
            *of_place += 1;
            *everywhere += 1;
        }
        takes
    }
}

/// Layer, verdict, cause and place.
type Kind = (Layer, Verdict, Option<CauseName>, String);

/// How many mismatches of one kind are kept that have the same place.
const OF_ONE_PLACE: usize = 3;

impl Mismatches {
    /// Keeps at most `limit` mismatches of each layer, verdict and cause with their evidence, so that a frequent kind leaves room for
    /// the others. The walks were made `by_profiler`, or else by the JVM.
    pub fn new(limit: usize, by_profiler: bool) -> Mismatches {
        Mismatches {
            room: Room {
                limit,
                ..Room::default()
            },
            by_profiler,
            ..Mismatches::default()
        }
    }

    /// Counts `judged` if it is a mismatch. Events that say that they are biased are none.
    pub fn add(&mut self, judged: &Judged<'_>, methods: &NamedMethods) {
        let (Some((walk, instant)), true) = (judged.compared, judged.judgement.differs()) else {
            return;
        };
        if judged.sample.is_some_and(|sample| sample.biased) {
            return;
        }
        let verdict = judged.judgement.verdict;
        let cause = cause(judged, methods, self.by_profiler);
        let place = place(walk, judged.judgement.at_frame, methods);
        let kind = (judged.layer, verdict, cause.clone(), place);
        *self.counts.entry(kind.clone()).or_default() += 1;
        if self.room.takes(kind) {
            let mismatch = mismatch(judged, walk, instant.truth, methods);
            self.kept.push(Mismatch { cause, ..mismatch });
        }
    }

    /// The counts of all kinds.
    pub fn kinds(self) -> (Vec<Mismatch>, Vec<KindCount>) {
        let counts = self.counts.into_iter();
        let mut kinds: Vec<_> = counts
            .map(|((layer, verdict, cause, place), count)| KindCount {
                layer,
                verdict,
                cause,
                place,
                count,
            })
            .collect();
        kinds.sort_by(|a, b| (b.count, &a.place).cmp(&(a.count, &b.place)));
        (self.kept, kinds)
    }
}

/// `package.Class.method` of the first frame that differs.
fn place(walk: &OwnedWalk, at: Option<usize>, methods: &NamedMethods) -> String {
    let frame = walk.frames.get(at.unwrap_or(0)).or(walk.frames.last());
    let shown = frame.map(|frame| methods.shown(frame.method));
    let shown = shown.unwrap_or_else(|| "an empty stack".to_owned());
    shown.split('(').next().unwrap_or_default().to_owned()
}

fn mismatch(
    judged: &Judged<'_>,
    walk: &OwnedWalk,
    truth: &OwnedTruth,
    methods: &NamedMethods,
) -> Mismatch {
    let mut other = BTreeMap::new();
    if let Some(sample) = judged.sample {
        let event = format!("{} at {} ticks", sample.event, sample.ticks);
        other.insert("event".to_owned(), event);
    }
    if let Some(request) = judged.request {
        let carried = if request.carried {
            ", which carried a virtual thread"
        } else {
            ""
        };
        let asked = format!("thread {}{carried}", request.tid);
        other.insert("request".to_owned(), asked);
    }
    if let Some(name) = &walk.end {
        other.insert("the walk ends in".to_owned(), name.clone());
    }
    Mismatch {
        layer: judged.layer,
        verdict: judged.judgement.verdict,
        reason: judged.judgement.reason.to_string(),
        thread: judged
            .request
            .map_or_else(String::new, |request| request.tid.to_string()),
        walker: shown_walk(walk, methods),
        truth: shown_truth(truth, methods),
        at_frame: judged.judgement.at_frame,
        cause: None,
        evidence: Evidence {
            pc: judged.request.map(|request| Address(request.pc)),
            code: judged.code.map(|code| code.place.clone()),
            bytes: judged.code.and_then(|code| code.bytes.parse().ok()),
            other,
            ..Evidence::default()
        },
    }
}

fn shown_walk(walk: &OwnedWalk, methods: &NamedMethods) -> Vec<ShownFrame> {
    let frames = walk.frames.iter().zip(&walk.lines);
    let show = |(frame, &line): (&Frame, &Option<u32>)| ShownFrame {
        method: methods.shown(frame.method),
        bci: Some(frame.location.0),
        line,
        rewritten_bci: None,
    };
    frames.map(show).collect()
}

fn shown_truth(truth: &OwnedTruth, methods: &NamedMethods) -> Vec<ShownFrame> {
    match truth {
        OwnedTruth::Trace(stack) => shown_stack(stack, methods),
        OwnedTruth::Steps(truth) => shown_steps(truth, methods),
    }
}

/// The first of the stacks that are true.
fn shown_steps(truth: &StepTruth, methods: &NamedMethods) -> Vec<ShownFrame> {
    let show = |frame: &StepFrame| ShownFrame {
        method: methods.shown(frame.method),
        bci: frame.location.map(|location| location.0),
        ..ShownFrame::default()
    };
    let stack = truth.stacks().next();
    let frames = stack.map_or_else(Vec::new, |(frames, _)| frames);
    frames.iter().map(show).collect()
}

fn shown_stack(stack: &TraceStack, methods: &NamedMethods) -> Vec<ShownFrame> {
    let truth = stack.truth();
    let above = truth.entries[truth.checked_entries..].iter().rev();
    let entry = |&hook| ShownFrame {
        method: methods.shown_hook(hook),
        ..ShownFrame::default()
    };
    let newest = truth.checked.len();
    let checked = truth.checked.iter().enumerate().rev();
    let frame = |(at, frame): (usize, &Frame)| ShownFrame {
        method: methods.shown(frame.method),
        // The newest checked frame moves.
        bci: (at + 1 < newest).then_some(frame.location.0),
        ..ShownFrame::default()
    };
    above.map(entry).chain(checked.map(frame)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frequent_kind_leaves_room_for_a_rare_one() {
        const LIMIT: usize = 10;
        let mut room = Room {
            limit: LIMIT,
            ..Room::default()
        };
        let mut takes =
            |verdict: Verdict, place: &str| room.takes((Layer::Jfr, verdict, None, place.into()));
        let places: Vec<String> = (0..200).map(|place| format!("A.m{place}")).collect();
        let taken = places
            .iter()
            .filter(|place| takes(Verdict::Imprecise, place));
        assert_eq!(taken.count(), LIMIT);
        let rare = (0..10).filter(|_| takes(Verdict::Truncated, "A.m"));
        assert_eq!(rare.count(), OF_ONE_PLACE);
    }
}
