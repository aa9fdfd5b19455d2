//! The contract of a truth: what a layer compares walks with.

use super::{Compared, Expected, Judgement, Verdict};
use crate::edge::Finding;
use crate::model::StepTruth;
use crate::trace::{Frame, HookId, TraceSnapshot};

/// What a layer compares walks with, at one instant of one thread. All walks have the top frame first.
pub trait Truth {
    /// Judges the walker's own answer.
    fn judge(&self, walk: &[Frame]) -> Judgement;

    /// Judges a fault that was injected in place of the walker's answer. The same as
    /// [`judge`](Self::judge), unless that withdraws mismatches which an injected fault may have as well.
    fn judge_fault(&self, walk: &[Frame]) -> Judgement {
        self.judge(walk)
    }

    /// The expected end of `faulty`, an injected fault that replaces `honest`, a walk without a mismatch.
    ///
    /// The expectation follows from what the layer promises, and not from how the judge works: the two
    /// check each other. For class files there is no second opinion: the expectation is the finding of the
    /// judge of edges, so the share of faults that this judge catches is a measurement, and no proof.
    fn expected(&self, honest: &[Frame], faulty: &[Frame]) -> Expected;

    /// How much of each frame of `walk` is compared, if `walk` matches.
    fn compared(&self, walk: &[Frame]) -> Vec<Compared>;

    /// Whether the truth has all frames of `walk`, as far as can be told, and other frames only above them.
    fn has_all_of(&self, walk: &[Frame]) -> bool {
        matches!(self.judge(walk).verdict, Verdict::Match | Verdict::Window)
    }

    /// The stacks with which walks are compared, the topmost first, as reports show them.
    fn stacks(&self) -> Vec<Stack<'_>>;

    /// The answers of GetStackTrace on which this truth rests, unless GetStackTrace itself is judged.
    fn references(&self) -> Vec<Reference> {
        vec![]
    }

    /// What [`judge`](Self::judge) looks at besides `walk`, for recorded samples.
    fn input(&self, walk: &[Frame]) -> Input<'_>;
}

/// Class files: gives the findings on a stack, top frame first, as [`crate::edge::Judge::stack`] makes
/// them; `None` if there are none, because a method was redefined or unloaded, or no class files are kept.
pub type Edges<'a> = dyn Fn(&[Frame]) -> Option<Vec<Finding>> + 'a;

/// Gives the index at which a walk passes from a virtual thread to its carrier, if it does.
pub type Boundary<'a> = &'a dyn Fn(&[Frame]) -> Option<usize>;

/// One of the stacks with which a walk is compared.
#[derive(Copy, Clone, Debug)]
pub enum Stack<'a> {
    /// A trace stack: all frames up to the newest checked frame, and the hooked frames above.
    Trace(&'a TraceSnapshot<'a>),
    /// The answer of another walker, top frame first.
    Walked(&'a [Frame]),
    /// The frames that steps show.
    Steps(&'a StepTruth),
}

impl<'a> Stack<'a> {
    /// The frames that a walker has named, if the stack has some.
    pub fn walked(self) -> &'a [Frame] {
        match self {
            Stack::Trace(trace) => trace.checked,
            Stack::Walked(frames) => frames,
            Stack::Steps(_) => &[],
        }
    }

    /// The number of frames that are known for certain.
    pub fn depth(self) -> usize {
        match self {
            Stack::Trace(trace) => trace.entries.len().max(trace.checked.len()),
            Stack::Walked(frames) => frames.len(),
            Stack::Steps(truth) => truth.callers.len(),
        }
    }
}

/// All hooked methods that run, the lowest frame first, if these stacks are trace stacks that show
/// them for certain.
pub fn running(stacks: &[Stack<'_>]) -> Option<Vec<HookId>> {
    let mut running = vec![];
    for stack in stacks.iter().rev() {
        match stack {
            Stack::Trace(trace) if trace.leaving.is_empty() => running.extend(trace.entries),
            _ => return None,
        }
    }
    Some(running)
}

/// A stack of GetStackTrace on which a truth rests.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The frames, top frame first.
    pub stack: Vec<Frame>,
    /// Whether the last of them is the thread's lowest frame. Below the frames of a mounted virtual thread
    /// lie its carrier's.
    pub is_whole: bool,
}

/// The complete input of a judge besides the walk, as [`crate::recorded::RecordedSample`] keeps it.
#[derive(Clone, Debug, Default)]
pub struct Input<'a> {
    /// The thread's trace stack.
    pub trace: Option<&'a TraceSnapshot<'a>>,
    /// The trace stack of the carrier of a mounted virtual thread.
    pub carrier: Option<&'a TraceSnapshot<'a>>,
    /// Where the walk passes to the carrier.
    pub boundary: Option<usize>,
    /// GetStackTrace's answer.
    pub reference: Option<&'a [Frame]>,
    /// The findings of class files on the walk.
    pub edges: Option<Vec<Finding>>,
    /// The findings of class files on `reference`, or on the checked frames of `trace`.
    pub reference_edges: Option<Vec<Finding>>,
}
