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
    counts: HashMap<Kind, (Verdict, u64)>,
    kept_of: HashMap<Kind, usize>,
    limit: usize,
    by_profiler: bool,
}

/// Layer, verdict, cause and place.
type Kind = (Layer, String, Option<CauseName>, String);

/// How many mismatches of one kind are kept.
const OF_ONE_PLACE: usize = 3;

impl Mismatches {
    /// Keeps at most `limit` mismatches with their evidence. The walks were made `by_profiler`, or else by the JVM.
    pub fn new(limit: usize, by_profiler: bool) -> Mismatches {
        Mismatches {
            limit,
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
        let kind = (
            judged.layer,
            verdict.name().to_owned(),
            cause.clone(),
            place,
        );
        let known = self.counts.entry(kind.clone()).or_insert((verdict, 0));
        known.1 += 1;
        let of_kind = self.kept_of.entry(kind).or_default();
        if *of_kind < OF_ONE_PLACE && self.kept.len() < self.limit {
            *of_kind += 1;
            let mismatch = mismatch(judged, walk, instant.truth, methods);
            self.kept.push(Mismatch { cause, ..mismatch });
        }
    }

    /// The counts of all kinds.
    pub fn kinds(self) -> (Vec<Mismatch>, Vec<KindCount>) {
        let counts = self.counts.into_iter();
        let mut kinds: Vec<_> = counts
            .map(|((layer, _, cause, place), (verdict, count))| KindCount {
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
