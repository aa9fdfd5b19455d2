//! The truth of steps: the calls and returns that the thread's steps have shown. A walk at one instruction is
//! right if it is one of the stacks that are true there.

use super::truth::{Input, Stack, Truth};
use super::{Compared, Expected, Judgement, Reason, Strength, Unseen, Verdict};
use crate::model::{StepFrame, StepTruth};
use crate::trace::{Frame, Location};

impl Truth for StepTruth {
    fn judge(&self, walk: &[Frame]) -> Judgement {
        judge(walk, self)
    }

    fn expected(&self, _: &[Frame], faulty: &[Frame]) -> Expected {
        expected(faulty, self)
    }

    fn compared(&self, walk: &[Frame]) -> Vec<Compared> {
        vec![Compared::Nothing; walk.len()]
    }

    fn stacks(&self) -> Vec<Stack<'_>> {
        vec![Stack::Steps(self)]
    }

    /// Nothing: samples of steps are not recorded.
    fn input(&self, _: &[Frame]) -> Input<'_> {
        Input::default()
    }
}

/// Judges `walk`, which was taken at the instant of `truth`.
fn judge(walk: &[Frame], truth: &StepTruth) -> Judgement {
    let mut nearest: Option<(usize, Judgement)> = None;
    let mut uncertain = None;
    for (stack, is_certain) in truth.stacks() {
        let agree = |(frame, known): &(&Frame, &StepFrame)| known.allows(frame);
        let same = walk.iter().zip(&stack).take_while(agree).count();
        if same == walk.len() && same == stack.len() {
            if is_certain {
                return matching(&stack);
            }
            uncertain = uncertain.or(Some(Judgement::at(
                Verdict::Imprecise,
                0,
                Reason::NextRecord,
            )));
        } else if nearest.is_none_or(|(most, _)| same > most) {
            nearest = Some((same, differing(walk, &stack, same)));
        }
    }
    let flagged = claims_no_more_than(walk, truth).then_some(Judgement::FLAGGED);
    flagged
        .or(uncertain)
        .or(nearest.map(|(_, judgement)| judgement))
        .unwrap_or(Judgement::plain(Verdict::Unverifiable, Reason::NoStepTruth))
}

/// Whether the walk says of its top frame that inlined frames above it may be missing, and is true from this frame on.
fn claims_no_more_than(walk: &[Frame], truth: &StepTruth) -> bool {
    let Some((top, below)) = walk.split_first() else {
        return false;
    };
    let outermost = truth.tops.iter().filter_map(|top| top.frames.last());
    let mut callers = below.iter().zip(&truth.callers);
    top.location == Location::UNRECORDED
        && outermost
            .into_iter()
            .any(|frame| frame.method == top.method)
        && below.len() == truth.callers.len()
        && callers.all(|(frame, known)| known.allows(frame))
}

fn matching(stack: &[StepFrame]) -> Judgement {
    let compared = |frame: &StepFrame| match frame.location {
        Some(_) => Compared::Bci,
        None => Compared::Method,
    };
    let compared: Vec<_> = stack.iter().map(compared).collect();
    Judgement::matching(Reason::SameFrames, Strength::of_frames(&compared))
}

/// The judgement on a walk whose first `same` frames are those of `stack`.
fn differing(walk: &[Frame], stack: &[StepFrame], same: usize) -> Judgement {
    let at = |verdict, reason| Judgement::at(verdict, same, reason);
    if same < walk.len() && lacks_top(walk, stack) {
        return Judgement::at(Verdict::Wrong, 0, Reason::TopMissing);
    }
    match (walk.get(same), stack.get(same)) {
        (Some(frame), Some(known)) if frame.method == known.method => {
            at(Verdict::Wrong, Reason::OtherLocation)
        }
        (Some(_), Some(_)) => at(Verdict::Wrong, Reason::OtherMethod),
        (Some(_), None) => at(Verdict::Wrong, Reason::BelowBottom),
        (None, _) if same == 0 => at(Verdict::Wrong, Reason::NoFrame),
        (None, _) => at(Verdict::Truncated, Reason::BottomMissing),
    }
}

/// Whether the walk is the lower part of `stack`, with frames missing at the top. The walk's own top is compared by its method:
/// a walker that takes it for the frame that runs may read its BCI elsewhere.
fn lacks_top(walk: &[Frame], stack: &[StepFrame]) -> bool {
    let missing = stack.len().saturating_sub(walk.len());
    let Some(((top, below), (known, callers))) =
        walk.split_first().zip(stack[missing..].split_first())
    else {
        return false;
    };
    missing > 0
        && top.method == known.method
        && below
            .iter()
            .zip(callers)
            .all(|(frame, known)| known.allows(frame))
}

fn expected(faulty: &[Frame], truth: &StepTruth) -> Expected {
    let starts_with_faulty = |stack: &[StepFrame]| {
        let mut pairs = stack.iter().zip(faulty);
        faulty.len() <= stack.len() && pairs.all(|(known, frame)| known.allows(frame))
    };
    let stacks: Vec<_> = truth.stacks().collect();
    let begun = stacks.iter().filter(|(stack, _)| starts_with_faulty(stack));
    let (whole, cut): (Vec<_>, Vec<_>) = begun.partition(|(stack, _)| stack.len() == faulty.len());
    match (whole.as_slice(), cut.as_slice()) {
        ([], []) if stacks.is_empty() => Expected::Unseen(Unseen::NoTruth),
        ([], [_, ..]) if !faulty.is_empty() => Expected::Verdict(Verdict::Truncated),
        ([], _) => Expected::Verdict(Verdict::Wrong),
        (whole, _) if whole.iter().any(|(_, is_certain)| *is_certain) => {
            Expected::Unseen(Unseen::Unsettled)
        }
        _ => Expected::Verdict(Verdict::Imprecise),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::StepTop;
    use crate::trace::MethodKey;

    fn frame(method: usize, bci: i32) -> Frame {
        Frame {
            method: MethodKey(method),
            location: Location(bci),
        }
    }

    fn known(method: usize, bci: Option<i32>) -> StepFrame {
        StepFrame {
            method: MethodKey(method),
            location: bci.map(Location),
        }
    }

    /// Method 1 calls method 2, which begins, or stands between two records.
    fn truth() -> StepTruth {
        let top = |frames, is_certain| StepTop { frames, is_certain };
        StepTruth {
            tops: vec![
                top(vec![known(2, None)], true),
                top(vec![known(3, Some(5)), known(2, Some(7))], false),
                top(vec![], true),
            ],
            callers: vec![known(1, Some(9)), known(0, Some(4))],
        }
    }

    #[test]
    fn each_stack_that_is_true_agrees() {
        let judge = |walk: &[Frame]| truth().judge(walk);
        let [one, zero] = [frame(1, 9), frame(0, 4)];
        let whole = judge(&[frame(2, 77), one, zero]);
        assert_eq!(whole.verdict, Verdict::Match);
        assert_eq!(whole.strength, Strength::of(3, 3, 2));
        assert_eq!(judge(&[one, zero]).strength, Strength::whole(2));
        let inlined = judge(&[frame(3, 5), frame(2, 7), one, zero]);
        assert_eq!(inlined.verdict, Verdict::Imprecise);
    }

    #[test]
    fn a_walk_whose_top_is_a_caller_lacks_the_top() {
        let truth = StepTruth {
            tops: vec![StepTop {
                frames: vec![known(2, None)],
                is_certain: true,
            }],
            callers: vec![known(1, Some(9)), known(0, Some(4))],
        };
        let reason = |walk: &[Frame]| truth.judge(walk).reason;
        let zero = frame(0, 4);
        assert_eq!(reason(&[frame(1, 9), zero]), Reason::TopMissing);
        // Where the top is believed to run, its BCI may come from elsewhere.
        assert_eq!(reason(&[frame(1, 7), zero]), Reason::TopMissing);
        assert_eq!(reason(&[frame(0, 7)]), Reason::TopMissing);
        assert_eq!(reason(&[frame(1, 9), frame(0, 5)]), Reason::OtherMethod);
        assert_eq!(reason(&[frame(5, 9), zero]), Reason::OtherMethod);
    }

    #[test]
    fn a_walk_that_flags_its_top_claims_the_compiled_method_and_its_callers_alone() {
        let [one, zero] = [frame(1, 9), frame(0, 4)];
        let flagged = |method| Frame {
            method: MethodKey(method),
            location: Location::UNRECORDED,
        };
        let uncertain = StepTruth {
            tops: truth().tops[1..2].to_vec(),
            ..truth()
        };
        let judge = |walk: &[Frame]| uncertain.judge(walk);
        assert!(judge(&[flagged(2), one, zero]).is_flagged());
        // The inlined method is not the compiled one, and callers must be right.
        assert_eq!(judge(&[flagged(3), one, zero]).verdict, Verdict::Wrong);
        assert!(judge(&[flagged(2), zero]).is_mismatch());
        assert!(judge(&[flagged(2), one]).is_mismatch());
    }

    #[test]
    fn each_other_stack_differs() {
        let verdict = |walk: &[Frame]| {
            let judged = truth().judge(walk);
            (judged.verdict, judged.at_frame)
        };
        let [one, zero] = [frame(1, 9), frame(0, 4)];
        assert_eq!(verdict(&[frame(2, 7), one]), (Verdict::Truncated, Some(2)));
        assert_eq!(verdict(&[zero]), (Verdict::Wrong, Some(0)));
        assert_eq!(
            verdict(&[frame(2, 7), frame(1, 8), zero]),
            (Verdict::Wrong, Some(1))
        );
        assert_eq!(
            verdict(&[frame(3, 6), frame(2, 7), one, zero]),
            (Verdict::Wrong, Some(0))
        );
        assert_eq!(
            verdict(&[one, zero, frame(5, 5)]),
            (Verdict::Wrong, Some(2))
        );
        assert_eq!(verdict(&[]), (Verdict::Wrong, Some(0)));
        let nothing = StepTruth::default().judge(&[one]);
        assert_eq!(nothing.verdict, Verdict::Unverifiable);
    }
}
