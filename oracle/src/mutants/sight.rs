//! The truth with which a layer compares a walk.

use super::expected::Expected;
use super::inject::WalkerAnswer;
use super::mounted::{Boundary, of_safepoint, of_truths};
use super::of_classes::{of_also_classes, of_edges, of_later};
use super::of_elements::of_elements;
use super::of_steps::of_steps;
use super::of_trace::of_truth;
use crate::edge::Finding;
use crate::judge::{
    Compared, Edged, Element, StepTruth, agrees_outside, compared_by_truth, judge_edges,
    judge_elements, judge_mounted, judge_mounted_at_safepoint, judge_moving_edges, judge_steps,
    judge_truth, judge_with_classes,
};
use crate::trace::{Frame, HookId, Methods, Truth};
use crate::{Judgement, Verdict};

/// The truth with which a layer compares a walk.
pub enum Sight<'a, M> {
    /// Layer `gst`: the trace stack.
    Truth(&'a Truth<'a>, &'a M),
    /// Layer `asgct-async`: the trace stack, and the carrier's trace stack if the thread is a
    /// virtual thread.
    Truths {
        /// The thread's trace stack.
        truth: &'a Truth<'a>,
        /// The carrier's trace stack.
        carrier: Option<&'a Truth<'a>>,
        /// Facts about methods.
        methods: &'a M,
        /// Where the carrier's part begins.
        boundary: Boundary<'a>,
    },
    /// Layer `asgct-safepoint`: another walk at the same instant.
    SameInstant {
        /// The other walk, without the carrier's part.
        reference: &'a [Frame],
        /// The trace stack of the carrier, if the thread is a virtual thread.
        carrier: Option<&'a Truth<'a>>,
        /// Facts about methods.
        methods: &'a M,
        /// Where the carrier's part begins.
        boundary: Boundary<'a>,
    },
    /// Layer `asgct-gst`: another walk a little later, and the class files.
    Later(Edged<'a>, &'a Edges<'a>),
    /// Layer `call-edge`: the class files.
    Edges(&'a Edges<'a>),
    /// Layers of steps: the calls and returns that steps show.
    Steps(&'a StepTruth),
    /// Layers of Java's own stack traces: the stack at the same instant, with lines in place of BCIs.
    Elements(&'a [Element]),
    /// Another truth, and the class files.
    AlsoClasses(&'a Sight<'a, M>, &'a Edges<'a>),
}

/// The findings of class files on a stack, top frame first, as [`crate::edge::Judge::stack`] makes
/// them; `None` if there are none, because a method was redefined or unloaded, or no class files
/// are kept.
pub type Edges<'a> = dyn Fn(&[Frame]) -> Option<Vec<Finding>> + 'a;

impl<M: Methods> Sight<'_, M> {
    /// The layer's own judgement of `walk`.
    pub fn judge(&self, walk: &[Frame]) -> Judgement {
        match self {
            Sight::Truth(truth, methods) => judge_truth(walk, truth, *methods),
            Sight::Truths {
                truth,
                carrier,
                methods,
                boundary,
            } => judge_mounted(walk, truth, *carrier, boundary(walk), *methods),
            Sight::SameInstant {
                reference,
                carrier,
                methods,
                boundary,
            } => {
                let of_carrier =
                    carrier.map(|truth| |walk: &[_]| judge_truth(walk, truth, *methods));
                let of_carrier = of_carrier.as_ref().map(|judge| judge as &dyn Fn(&[_]) -> _);
                judge_mounted_at_safepoint(walk, reference, of_carrier, boundary(walk))
            }
            Sight::Later(later, edges) => {
                let found = edges(walk);
                judge_moving_edges(Edged::new(walk, found.as_deref()), *later)
            }
            Sight::Edges(edges) => judge_edges(edges(walk).as_deref()),
            Sight::Steps(truth) => judge_steps(walk, truth),
            Sight::Elements(truth) => judge_elements(walk, truth),
            Sight::AlsoClasses(sight, edges) => {
                sight.judge_with_classes(sight.judge(walk), walk, edges)
            }
        }
    }

    /// Whether the truth has all frames of `walk`, as far as can be told, and has frames above them at most.
    pub fn has_all_of(&self, walk: &[Frame]) -> bool {
        match self {
            Sight::Truth(truth, methods)
            | Sight::Truths {
                truth,
                carrier: None,
                methods,
                ..
            } => agrees_outside(walk, truth, *methods),
            Sight::AlsoClasses(sight, _) => sight.has_all_of(walk),
            _ => matches!(self.judge(walk).verdict, Verdict::Match | Verdict::Window),
        }
    }

    /// The newest hooked method that runs, if trace stacks are the truth and show one for certain.
    pub fn newest(&self) -> Option<HookId> {
        let newest = |truth: &Truth<'_>| match truth.leaving {
            [] => truth.entries.last().copied(),
            _ => None,
        };
        match self {
            Sight::Truth(truth, _) => newest(truth),
            Sight::Truths { truth, carrier, .. } => match (truth.entries, carrier) {
                ([], Some(carrier)) => newest(carrier),
                _ => newest(truth),
            },
            Sight::AlsoClasses(sight, _) => sight.newest(),
            Sight::SameInstant { .. }
            | Sight::Later(..)
            | Sight::Edges(_)
            | Sight::Steps(_)
            | Sight::Elements(_) => None,
        }
    }

    /// All hooked methods that run, the lowest frame first, where [`newest`](Self::newest) shows one.
    pub fn running(&self) -> Option<Vec<HookId>> {
        let carrier = match self {
            Sight::Truth(..) => None,
            Sight::Truths { carrier, .. } => *carrier,
            Sight::AlsoClasses(sight, _) => return sight.running(),
            _ => return None,
        };
        let (Sight::Truth(truth, _) | Sight::Truths { truth, .. }) = self else {
            return None;
        };
        let parts = carrier.into_iter().chain([*truth]);
        parts
            .clone()
            .all(|truth| truth.leaving.is_empty())
            .then(|| {
                let entries = parts.flat_map(|truth| truth.entries);
                entries.copied().collect()
            })
    }

    /// The judgement after class files are added to the truth that `judged` the `walk`.
    pub fn judge_with_classes(
        &self,
        judged: Judgement,
        walk: &[Frame],
        edges: &Edges<'_>,
    ) -> Judgement {
        let found = edges(walk);
        let edged = Edged::new(walk, found.as_deref());
        let has_fault = found.iter().flatten().any(|found| found.is_impossible());
        // If a walk agrees with its references and is possible, the references are possible too.
        let references = if judged.is_mismatch() || has_fault {
            self.references(edges)
        } else {
            vec![]
        };
        let references: Vec<_> = references.iter().map(Reference::edged).collect();
        judge_with_classes(judged, edged, &references, || self.compared(walk))
    }

    /// The stacks of GetStackTrace on which this truth rests, unless GetStackTrace itself is
    /// judged.
    fn references(&self, edges: &Edges<'_>) -> Vec<Reference> {
        match self {
            Sight::Truths { truth, carrier, .. } => match carrier {
                None => vec![Reference::whole(truth, edges)],
                Some(carrier) => {
                    vec![
                        Reference::top(truth, edges),
                        Reference::whole(carrier, edges),
                    ]
                }
            },
            _ => vec![],
        }
    }

    /// How this truth compares each frame of `walk`, if it matches.
    fn compared(&self, walk: &[Frame]) -> Vec<Compared> {
        match self {
            Sight::Truth(truth, methods) => compared_by_truth(walk, truth, *methods),
            Sight::Truths {
                truth,
                carrier,
                methods,
                boundary,
            } => match (boundary(walk), carrier) {
                (Some(at), Some(carrier)) => {
                    let mut compared = compared_by_truth(&walk[..at], truth, *methods);
                    compared.push(Compared::Method);
                    compared.extend(compared_by_truth(&walk[at + 1..], carrier, *methods));
                    compared
                }
                _ => compared_by_truth(walk, truth, *methods),
            },
            Sight::SameInstant { .. } => vec![Compared::Bci; walk.len()],
            Sight::Elements(_) => vec![Compared::Method; walk.len()],
            Sight::Later(..) | Sight::Edges(_) | Sight::Steps(_) => {
                vec![Compared::Nothing; walk.len()]
            }
            Sight::AlsoClasses(sight, _) => sight.compared(walk),
        }
    }

    /// The expected end of `faulty`, which replaces `honest`, a walk without a mismatch.
    ///
    /// The expectation follows from what the layers promise, and not from how the judges work. For
    /// call edges there is no second opinion: the expectation is the finding of the judge of edges.
    /// So the share of faults that this judge catches is a measurement, and no proof.
    pub fn expect(&self, honest: &[Frame], faulty: &WalkerAnswer) -> Expected {
        match faulty {
            WalkerAnswer::Error(code) => Expected::Verdict(Verdict::Error(*code)),
            WalkerAnswer::Stack(faulty) => self.expect_of(honest, faulty),
        }
    }

    /// The expected end of a faulty stack.
    fn expect_of(&self, honest: &[Frame], faulty: &[Frame]) -> Expected {
        match self {
            Sight::Truth(truth, methods) => of_truth(truth, *methods, honest, faulty),
            Sight::Truths {
                truth,
                carrier,
                methods,
                boundary,
            } => of_truths(truth, *carrier, *methods, boundary, honest, faulty),
            Sight::SameInstant {
                reference,
                carrier,
                methods,
                boundary,
            } => of_safepoint(reference, *carrier, *methods, boundary, honest, faulty),
            Sight::Later(later, edges) => {
                of_later(honest, faulty, *later, edges(faulty).as_deref())
            }
            Sight::Edges(edges) => of_edges(honest, faulty, edges(faulty).as_deref()),
            Sight::Steps(truth) => of_steps(faulty, truth),
            Sight::Elements(truth) => of_elements(faulty, truth),
            Sight::AlsoClasses(sight, edges) => match sight.expect_of(honest, faulty) {
                Expected::Verdict(verdict) => Expected::Verdict(verdict),
                unseen => of_also_classes(unseen, edges(faulty).as_deref()),
            },
        }
    }
}

/// A stack of GetStackTrace on which a truth rests, top frame first, with the findings of class
/// files.
struct Reference {
    stack: Vec<Frame>,
    found: Option<Vec<Finding>>,
}

impl Reference {
    /// The checked frames of a thread.
    fn whole(truth: &Truth<'_>, edges: &Edges<'_>) -> Reference {
        let stack: Vec<_> = truth.checked.iter().rev().copied().collect();
        let found = edges(&stack);
        Reference { stack, found }
    }

    /// The checked frames of a virtual thread, without the frames of its carrier below.
    fn top(truth: &Truth<'_>, edges: &Edges<'_>) -> Reference {
        let mut reference = Reference::whole(truth, edges);
        if let Some(found) = &mut reference.found {
            found.truncate(reference.stack.len());
        }
        reference
    }

    fn edged(&self) -> Edged<'_> {
        Edged::new(&self.stack, self.found.as_deref())
    }
}
