//! Another truth, and the native method that the thread has called: the frame of that method is on top.
//!
//! A trace stack has no entries of native methods, and class files allow a stack that ends above one. So a walker that loses
//! a native method at the top agrees with both. AsyncGetCallTrace and GetStackTrace promise frames of native methods.

use super::truth::{Input, Reference, Stack, Truth};
use super::{Compared, Expected, Judgement, Reason, Verdict};
use crate::trace::Frame;

/// Another truth, where a native method may be known that must be on top.
pub struct NativeTop<'a, T, F> {
    /// The other truth.
    pub truth: &'a T,
    /// Whether a frame can be that of the native method; `None` if the thread may be in none.
    pub is_top: Option<F>,
}

impl<T: Truth, F: Fn(Frame) -> bool> NativeTop<'_, T, F> {
    fn has_top(&self, walk: &[Frame]) -> bool {
        let is_top = self.is_top.as_ref().zip(walk.first());
        is_top.is_none_or(|(is_top, &top)| is_top(top))
    }

    fn with_top(&self, judged: Judgement, walk: &[Frame]) -> Judgement {
        if self.has_top(walk) {
            judged
        } else {
            Judgement::at(Verdict::Wrong, 0, Reason::OtherNativeTop)
        }
    }
}

impl<T: Truth, F: Fn(Frame) -> bool> Truth for NativeTop<'_, T, F> {
    fn judge(&self, walk: &[Frame]) -> Judgement {
        self.with_top(self.truth.judge(walk), walk)
    }

    fn judge_fault(&self, walk: &[Frame]) -> Judgement {
        self.with_top(self.truth.judge_fault(walk), walk)
    }

    fn expected(&self, honest: &[Frame], faulty: &[Frame]) -> Expected {
        if self.has_top(faulty) {
            self.truth.expected(honest, faulty)
        } else {
            Expected::Verdict(Verdict::Wrong)
        }
    }

    fn compared(&self, walk: &[Frame]) -> Vec<Compared> {
        self.truth.compared(walk)
    }

    fn has_all_of(&self, walk: &[Frame]) -> bool {
        self.has_top(walk) && self.truth.has_all_of(walk)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::HereTruth;
    use crate::model::toy::InOwnCode;
    use crate::trace::{Location, MethodKey};

    const TOY: InOwnCode = InOwnCode(|_| false);

    fn frame(method: usize, location: Location) -> Frame {
        Frame {
            method: MethodKey(method),
            location,
        }
    }

    /// The verdict on `walk` and on its fault, where another walker has given `reference`, and method 7 is on top.
    fn verdicts(walk: &[Frame], reference: &[Frame]) -> (Verdict, Expected) {
        let same = HereTruth {
            reference,
            carrier: None,
            methods: &TOY,
            boundary: &|_| None,
        };
        let is_top = |frame: Frame| frame.method.0 == 7 && frame.location == Location::NATIVE;
        let truth = NativeTop {
            truth: &same,
            is_top: Some(is_top),
        };
        let judged = truth.judge(walk);
        assert_eq!(judged, truth.judge_fault(walk));
        (judged.verdict, truth.expected(reference, walk))
    }

    #[test]
    fn two_walkers_that_lose_the_same_native_top_are_wrong() {
        let top = frame(7, Location::NATIVE);
        let [java, bottom] = [1, 2].map(|method| frame(method, Location(3)));
        let whole = [top, java, bottom];
        assert_eq!(verdicts(&whole, &whole).0, Verdict::Match);
        let wrong = (Verdict::Wrong, Expected::Verdict(Verdict::Wrong));
        let other = [frame(8, Location::NATIVE), java, bottom];
        let in_java = [frame(7, Location(0)), java, bottom];
        for walk in [&whole[1..], &other, &in_java] {
            assert_eq!(verdicts(walk, walk), wrong, "{walk:?}");
        }
        // What the other truth sees stays as it says.
        let cut = Verdict::Truncated;
        let expected = (cut, Expected::Verdict(cut));
        assert_eq!(verdicts(&whole[..2], &whole), expected);
    }

    #[test]
    fn without_a_native_method_the_other_truth_decides() {
        let java = [frame(1, Location(3))];
        let same = HereTruth {
            reference: &java,
            carrier: None,
            methods: &TOY,
            boundary: &|_| None,
        };
        let truth = NativeTop {
            truth: &same,
            is_top: None::<fn(Frame) -> bool>,
        };
        assert_eq!(truth.judge(&java), same.judge(&java));
    }
}
