//! The judge by steps: a walk at one instruction, compared with the calls and returns that the thread's
//! steps have shown.

use crate::judge::{Compared, Judgement, Reason, Strength, Verdict};
use crate::trace::{Frame, Location, MethodKey};

/// A frame of a truth by steps.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct StepFrame {
    /// The method.
    pub method: MethodKey,
    /// The location; `None` if it is not known.
    pub location: Option<Location>,
}

/// What may be at the top of a stack at one instruction.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StepTop {
    /// The frames above the callers, top first.
    pub frames: Vec<StepFrame>,
    /// Whether these frames are certain. If not, the inlined frames are those of a neighbouring debug info
    /// record.
    pub is_certain: bool,
}

/// The truth by steps: the callers are certain, and the top is one of several.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct StepTruth {
    /// What may be at the top. At an instruction that builds or removes a frame, the stack with the frame
    /// and the stack without the frame are both true.
    pub tops: Vec<StepTop>,
    /// The frames below, top first.
    pub callers: Vec<StepFrame>,
}

impl StepFrame {
    /// Whether `frame` can be this one.
    pub fn allows(&self, frame: &Frame) -> bool {
        let at = |location| location == frame.location;
        self.method == frame.method && self.location.is_none_or(at)
    }
}

impl StepTruth {
    /// The stacks that are true, top frame first, and whether each is certain.
    pub fn stacks(&self) -> impl Iterator<Item = (Vec<StepFrame>, bool)> {
        let stack = |top: &StepTop| ([&top.frames[..], &self.callers].concat(), top.is_certain);
        self.tops.iter().map(stack)
    }
}

/// Judges `walk`, which was taken at the instant of `truth`.
pub fn judge_steps(walk: &[Frame], truth: &StepTruth) -> Judgement {
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

#[cfg(test)]
mod tests {
    use super::*;

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
        let judge = |walk: &[Frame]| judge_steps(walk, &truth());
        let [one, zero] = [frame(1, 9), frame(0, 4)];
        let whole = judge(&[frame(2, 77), one, zero]);
        assert_eq!(whole.verdict, Verdict::Match);
        assert_eq!(whole.strength, Strength::of(3, 3, 2));
        assert_eq!(judge(&[one, zero]).strength, Strength::whole(2));
        let inlined = judge(&[frame(3, 5), frame(2, 7), one, zero]);
        assert_eq!(inlined.verdict, Verdict::Imprecise);
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
        let judge = |walk: &[Frame]| judge_steps(walk, &uncertain);
        assert!(judge(&[flagged(2), one, zero]).is_flagged());
        // The inlined method is not the compiled one, and callers must be right.
        assert_eq!(judge(&[flagged(3), one, zero]).verdict, Verdict::Wrong);
        assert!(judge(&[flagged(2), zero]).is_mismatch());
        assert!(judge(&[flagged(2), one]).is_mismatch());
    }

    #[test]
    fn each_other_stack_differs() {
        let verdict = |walk: &[Frame]| {
            let judged = judge_steps(walk, &truth());
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
        let nothing = judge_steps(&[one], &StepTruth::default());
        assert_eq!(nothing.verdict, Verdict::Unverifiable);
    }
}
