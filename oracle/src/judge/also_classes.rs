//! What class files add to another truth.

use super::classes::{Edged, compared, judge_edges};
use super::truth::{Edges, Input, Reference, Stack, Truth};
use super::{Compared, Expected, Judgement, Reason, Strength, Verdict};
use crate::edge::{Finding, Possible};
use crate::trace::Frame;

/// Another truth, and the class files.
pub struct AlsoClasses<'a, T> {
    /// The other truth.
    pub truth: &'a T,
    /// The class files.
    pub edges: &'a Edges<'a>,
}

impl<T: Truth> AlsoClasses<'_, T> {
    /// The judgement after class files are added to `judged`, that of the other truth.
    fn with_classes(&self, judged: Judgement, walk: &[Frame]) -> Judgement {
        let found = (self.edges)(walk);
        let has_fault = found.iter().flatten().any(|found| found.is_impossible());
        // If a walk agrees with its references and is possible, the references are possible too.
        let references = if judged.is_mismatch() || has_fault {
            self.truth.references()
        } else {
            vec![]
        };
        let findings: Vec<_> = references.iter().map(|at| self.findings(at)).collect();
        let pairs = references.iter().zip(&findings);
        let references = pairs.map(|(at, found)| Edged::new(&at.stack, found.as_deref()));
        let references: Vec<_> = references.collect();
        let edged = Edged::new(walk, found.as_deref());
        judge_with_classes(judged, edged, &references, || self.truth.compared(walk))
    }

    /// The findings on a reference. Where other frames lie below, its lowest frame need not be an entry of
    /// the thread.
    fn findings(&self, reference: &Reference) -> Option<Vec<Finding>> {
        let mut found = (self.edges)(&reference.stack)?;
        if !reference.is_whole {
            found.truncate(reference.stack.len());
        }
        Some(found)
    }
}

impl<T: Truth> Truth for AlsoClasses<'_, T> {
    fn judge(&self, walk: &[Frame]) -> Judgement {
        self.with_classes(self.truth.judge(walk), walk)
    }

    fn judge_fault(&self, walk: &[Frame]) -> Judgement {
        self.with_classes(self.truth.judge_fault(walk), walk)
    }

    fn expected(&self, honest: &[Frame], faulty: &[Frame]) -> Expected {
        let expected = self.truth.expected(honest, faulty);
        if let Expected::Verdict(_) = expected {
            return expected;
        }
        let by_classes = judge_edges((self.edges)(faulty).as_deref());
        if by_classes.is_mismatch() {
            Expected::Verdict(by_classes.verdict)
        } else {
            expected
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

    fn input(&self, walk: &[Frame]) -> Input<'_> {
        let input = self.truth.input(walk);
        let checked = input.trace.map_or(&[][..], |trace| trace.checked);
        let checked: Vec<_> = checked.iter().rev().copied().collect();
        Input {
            edges: (self.edges)(walk),
            reference_edges: (self.edges)(&checked),
            ..input
        }
    }
}

/// Adds the findings of class files on `walk` to the judgement `judged` of another truth.
///
/// A mismatch stays. A walk without a mismatch becomes a mismatch if class files forbid an edge of
/// the walk. A `window` becomes a `match` if class files show that the frame below called the frame
/// without an entry, because then each frame is accounted for. The strength of a `match` grows by
/// the possible edges. `by_truth` says how the other truth compared each frame, top frame first.
///
/// `references` are stacks of GetStackTrace on which the other truth rests. If class files forbid
/// an edge of a reference, GetStackTrace or the class files are wrong. Then only an edge that is in
/// no reference is a mismatch of the walk.
fn judge_with_classes(
    judged: Judgement,
    walk: Edged<'_>,
    references: &[Edged<'_>],
    by_truth: impl Fn() -> Vec<Compared>,
) -> Judgement {
    let is_faulty = |reference: &Edged<'_>| reference.faults().next().is_some();
    let rests_on_fault = references.iter().any(is_faulty);
    if judged.is_mismatch() && !rests_on_fault {
        return judged;
    }
    if let Some(forbidden) = walk.forbidden(references) {
        return forbidden;
    }
    match (rests_on_fault, judged.verdict, walk.found) {
        (true, ..) => Judgement::plain(Verdict::Unverifiable, Reason::ReferenceMismatch),
        (false, Verdict::Match, Some(found)) => Judgement {
            strength: strength(by_truth(), found),
            ..judged
        },
        (false, Verdict::Window, Some(found)) if was_called(judged, found) => {
            Judgement::matching(Reason::CalledWithoutEntry, strength(by_truth(), found))
        }
        _ => judged,
    }
}

/// How much of a walk without a mismatch was compared, by either truth.
fn strength(by_truth: Vec<Compared>, found: &[Finding]) -> Strength {
    let both = by_truth.into_iter().zip(compared(found));
    let frames: Vec<_> = both.map(|(truth, classes)| truth.max(classes)).collect();
    Strength::of_frames(&frames)
}

/// Whether class files show the call of the frame that made the window: its BCI proves that the
/// trace stack has no entry of the frame, all other frames agree, and the frame below is at an
/// instruction that calls the frame's method. Callers that can call any method prove nothing.
fn was_called(judged: Judgement, found: &[Finding]) -> bool {
    let below = judged.at_frame.and_then(|at| found.get(at + 1));
    let calls_anything = |rule: &Possible| {
        matches!(
            rule,
            Possible::MethodHandle | Possible::Native | Possible::Generated
        )
    };
    let is_proof = |finding: &Finding| match finding {
        Finding::Possible(rule) => !calls_anything(rule),
        Finding::Impossible(_) | Finding::Unknown(_) => false,
    };
    judged.reason == Reason::HookPending && below.is_some_and(is_proof)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::{Impossible, Unknown};
    use crate::trace::{Frame, Location, MethodKey};

    const YES: Finding = Finding::Possible(Possible::Static);
    const MAYBE: Finding = Finding::Unknown(Unknown::Receiver);
    const NO: Finding = Finding::Impossible(Impossible::OtherName);
    const NO_ENTRY: Finding = Finding::Impossible(Impossible::NoEntry);

    const WRONG: Judgement = Judgement::at(Verdict::Wrong, 0, Reason::NotThere);
    const WINDOW: Judgement = Judgement::at(Verdict::Window, 0, Reason::HookPending);

    fn matching() -> Judgement {
        Judgement::matching(Reason::SameFrames, Strength::of(3, 1, 0))
    }

    fn stack(methods: &[usize]) -> Vec<Frame> {
        let frame = |&method: &usize| Frame {
            method: MethodKey(method),
            location: Location(method as i32),
        };
        methods.iter().map(frame).collect()
    }

    fn judge(judged: Judgement, found: [Finding; 4], reference: &[Finding]) -> Judgement {
        let (walk, below) = (stack(&[3, 2, 1]), stack(&[2, 1]));
        let reference = Edged::new(&below, Some(reference));
        let by_truth = || vec![Compared::Nothing, Compared::Method, Compared::Nothing];
        let walk = Edged::new(&walk, Some(&found));
        judge_with_classes(judged, walk, &[reference], by_truth)
    }

    #[test]
    fn a_forbidden_edge_is_a_mismatch_whatever_the_other_truth_says() {
        let sound = &[YES; 3];
        for judged in [matching(), WINDOW] {
            let wrong = judge(judged, [YES, NO, YES, YES], sound);
            assert_eq!((wrong.verdict, wrong.at_frame), (Verdict::Wrong, Some(1)));
            assert_eq!(wrong.reason, Reason::Edge(Impossible::OtherName));
            let cut = judge(judged, [YES, YES, YES, NO_ENTRY], sound);
            assert_eq!((cut.verdict, cut.at_frame), (Verdict::Truncated, Some(3)));
        }
        assert_eq!(judge(WRONG, [YES, YES, NO, YES], sound), WRONG);
    }

    #[test]
    fn a_window_is_a_match_where_class_files_show_the_call() {
        let sound = &[YES; 3];
        let found = judge(WINDOW, [YES, YES, MAYBE, YES], sound);
        assert_eq!(found.verdict, Verdict::Match);
        // Class files compare the top, the trace stack compares the middle.
        assert_eq!(found.strength, Strength::of(3, 3, 1));
        let anything = [
            Possible::MethodHandle,
            Possible::Native,
            Possible::Generated,
        ];
        let unsure = anything.map(Finding::Possible).into_iter().chain([MAYBE]);
        for finding in unsure {
            assert_eq!(judge(WINDOW, [YES, finding, YES, YES], sound), WINDOW);
        }
        let left = Judgement::at(Verdict::Window, 0, Reason::EndedConstructors);
        assert_eq!(judge(left, [YES; 4], sound), left);
    }

    #[test]
    fn what_rests_on_a_faulty_reference_accuses_nobody() {
        let faulty = &[YES, NO, YES];
        let none = Judgement::plain(Verdict::Unverifiable, Reason::ReferenceMismatch);
        for judged in [matching(), WINDOW, WRONG] {
            assert_eq!(judge(judged, [YES, YES, NO, YES], faulty), none);
            assert_eq!(judge(judged, [YES; 4], faulty), none);
            // A forbidden edge that only the walk has is a mismatch of the walk.
            let own = judge(judged, [YES, NO, NO, YES], faulty);
            assert_eq!((own.verdict, own.at_frame), (Verdict::Wrong, Some(1)));
        }
    }

    #[test]
    fn a_match_grows_stronger() {
        let found = judge(matching(), [YES, MAYBE, YES, YES], &[YES; 3]);
        // No truth compares the top; the trace stack compares the middle; class files compare the
        // lowest frame as a caller.
        assert_eq!(found.strength, Strength::of(3, 2, 1));
        let found = judge(matching(), [YES, YES, YES, MAYBE], &[YES; 3]);
        assert_eq!(found.strength, Strength::of(3, 3, 2));
    }
}
