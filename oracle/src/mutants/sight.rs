//! What a layer holds a walk against.

use super::expected::Expected;
use super::inject::WalkerAnswer;
use super::mounted::{Boundary, of_safepoint, of_truths};
use super::of_classes::{of_edges, of_later};
use super::of_trace::of_truth;
use crate::edge::Finding;
use crate::judge::{
    Edged, judge_edges, judge_mounted, judge_mounted_at_safepoint, judge_moving_edges, judge_truth,
};
use crate::trace::{Frame, Methods, Truth};
use crate::{Judgement, Verdict};

/// What a layer holds a walk against.
pub enum Sight<'a, M> {
    /// Layer `gst`: the trace stack.
    Truth(&'a Truth<'a>, &'a M),
    /// Layer `asgct-async`: the trace stack, and that of the carrier if the thread is a virtual
    /// one.
    Truths {
        /// The thread's.
        truth: &'a Truth<'a>,
        /// The carrier's.
        carrier: Option<&'a Truth<'a>>,
        /// What is known of methods.
        methods: &'a M,
        /// Where the carrier's part begins.
        boundary: Boundary<'a>,
    },
    /// Layer `asgct-safepoint`: another walk at the same instant.
    SameInstant {
        /// It, without the carrier's part.
        reference: &'a [Frame],
        /// Whether there must be such a part.
        is_carried: bool,
        /// Where it begins.
        boundary: Boundary<'a>,
    },
    /// Layer `asgct-gst`: another walk a little later, and the class files.
    Later(Edged<'a>, &'a Edges<'a>),
    /// Layer `call-edge`: the class files.
    Edges(&'a Edges<'a>),
}

/// What the class files say of a stack, top frame first, as [`crate::edge::Judge::stack`] finds it;
/// none where they cannot tell, because a method was redefined or unloaded or none are kept.
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
                is_carried,
                boundary,
            } => judge_mounted_at_safepoint(walk, reference, *is_carried, boundary(walk)),
            Sight::Later(later, edges) => {
                let found = edges(walk);
                judge_moving_edges(Edged::new(walk, found.as_deref()), *later)
            }
            Sight::Edges(edges) => judge_edges(edges(walk).as_deref()),
        }
    }

    /// What should become of `faulty`, which takes the place of `honest`, a walk without a mismatch.
    ///
    /// Written from what the layers promise, not from how the judges work. Of call edges there
    /// is no second opinion: what is expected there is what their judge finds, so that how many
    /// faults it catches is a measurement, and no proof.
    pub fn expect(&self, honest: &[Frame], faulty: &WalkerAnswer) -> Expected {
        let faulty = match faulty {
            WalkerAnswer::Error(code) => return Expected::Verdict(Verdict::Error(*code)),
            WalkerAnswer::Stack(faulty) => faulty,
        };
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
                is_carried,
                boundary,
            } => of_safepoint(reference, *is_carried, boundary, faulty),
            Sight::Later(later, edges) => {
                of_later(honest, faulty, *later, edges(faulty).as_deref())
            }
            Sight::Edges(edges) => of_edges(honest, faulty, edges(faulty).as_deref()),
        }
    }
}
