//! A truth whose judgements are settled by facts that the stacks do not have: versions of redefined
//! methods, or debug info records.

use super::truth::{Input, Reference, Stack, Truth};
use super::{Compared, Expected, Judgement, Unseen, Verdict};
use crate::trace::Frame;

/// `truth`, whose judgements are settled by further facts. All else is that of `truth`.
pub struct Settled<'a, T, J> {
    truth: &'a T,
    judge: J,
    /// Whether the facts apply to injected faults too.
    settles_faults: bool,
}

impl<'a, T: Truth, J: Fn(&T, &[Frame]) -> Judgement> Settled<'a, T, J> {
    /// `judge` judges in place of `truth`. For facts that withdraw a mismatch only at frames that they are
    /// about, so that other faults are seen in spite of them.
    pub fn always(truth: &'a T, judge: J) -> Settled<'a, T, J> {
        Settled {
            truth,
            judge,
            settles_faults: true,
        }
    }

    /// `judge` judges the walker's own answers. For facts that withdraw every mismatch of a walk: faults are
    /// judged by `truth` alone, because the facts would hide them.
    pub fn own_answers(truth: &'a T, judge: J) -> Settled<'a, T, J> {
        Settled {
            truth,
            judge,
            settles_faults: false,
        }
    }
}

impl<T: Truth, J: Fn(&T, &[Frame]) -> Judgement> Truth for Settled<'_, T, J> {
    fn judge(&self, walk: &[Frame]) -> Judgement {
        (self.judge)(self.truth, walk)
    }

    fn judge_fault(&self, walk: &[Frame]) -> Judgement {
        if self.settles_faults {
            self.judge(walk)
        } else {
            self.truth.judge_fault(walk)
        }
    }

    fn expected(&self, honest: &[Frame], faulty: &[Frame]) -> Expected {
        let expected = self.truth.expected(honest, faulty);
        // `imprecise` where the truth alone sees its mismatch: debug info records explain the fault.
        let is_explained = |verdict| {
            verdict != Verdict::Imprecise
                && self.judge_fault(faulty).verdict == Verdict::Imprecise
                && self.truth.judge(faulty).verdict == verdict
        };
        match expected {
            Expected::Verdict(verdict) if is_explained(verdict) => {
                Expected::Unseen(Unseen::BetweenRecords)
            }
            expected => expected,
        }
    }

    fn compared(&self, walk: &[Frame]) -> Vec<Compared> {
        self.truth.compared(walk)
    }

    fn has_all_of(&self, walk: &[Frame]) -> bool {
        self.truth.has_all_of(walk)
    }

    fn stacks(&self) -> Vec<Stack<'_>> {
        self.truth.stacks()
    }

    fn references(&self) -> Vec<Reference> {
        self.truth.references()
    }

    fn input(&self, walk: &[Frame]) -> Input<'_> {
        self.truth.input(walk)
    }
}
