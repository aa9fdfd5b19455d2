//! Parts of a stack: what JVMTI's GetStackTrace must answer if it is asked from a start depth, for a number of frames.

use super::truth::{Input, Stack, Truth};
use super::{Compared, Expected, Judgement, Reason, Strength, Verdict};
use crate::trace::Frame;
use std::fmt;

/// The arguments of GetStackTrace that choose a part of a stack.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Slice {
    /// The depth of the first frame, counted from 0, the top frame; if negative, from the lowest frame, which is -1.
    pub start_depth: i32,
    /// The largest number of frames.
    pub max_frame_count: usize,
}

impl Slice {
    /// How far beyond a stack a random start depth may lie, and how many frames more than it has may be asked for.
    const BEYOND: u64 = 2;

    /// A random part of a stack of so many frames, by the random number `random`. Some start depths lie outside of the stack.
    pub fn random(frames: usize, random: u64) -> Slice {
        let most = frames as u64 + Slice::BEYOND;
        let (high, low) = (random >> 32, random & u64::from(u32::MAX));
        Slice {
            start_depth: (high % (2 * most + 1)) as i32 - most as i32,
            max_frame_count: (low % (most + 1)) as usize,
        }
    }

    /// The frames that GetStackTrace must give of `stack`, top frame first; `None` if it must answer
    /// JVMTI_ERROR_ILLEGAL_ARGUMENT.
    pub fn of(self, stack: &[Frame]) -> Option<&[Frame]> {
        // The specification of JVMTI, GetStackTrace:
        //     start_depth: "If non-negative, count from the current frame, the first frame retrieved is at depth start_depth. ...
        //         If negative, count from below the oldest frame, the first frame retrieved is at depth stackDepth +
        //         start_depth, where stackDepth is the count of frames on the stack."
        //     JVMTI_ERROR_ILLEGAL_ARGUMENT: "start_depth is positive and greater than or equal to stackDepth. Or start_depth
        //         is negative and less than -stackDepth."
        let depth = stack.len();
        let away = self.start_depth.unsigned_abs() as usize;
        let first = if self.start_depth < 0 {
            depth.checked_sub(away)?
        } else {
            away
        };
        if self.start_depth > 0 && first >= depth {
            return None;
        }
        let below = &stack[first..];
        Some(&below[..self.max_frame_count.min(below.len())])
    }
}

/// The arguments as JVMTI names them.
impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Slice {
            start_depth,
            max_frame_count,
        } = self;
        write!(
            f,
            "start_depth {start_depth}, max_frame_count {max_frame_count}"
        )
    }
}

/// The part of a stack that GetStackTrace was asked for.
pub struct SliceTruth<'a> {
    /// The frames, top frame first; `None` if the answer must be JVMTI_ERROR_ILLEGAL_ARGUMENT.
    pub part: Option<&'a [Frame]>,
}

impl SliceTruth<'_> {
    /// Judges `given`, frames or, if `None`, the error JVMTI_ERROR_ILLEGAL_ARGUMENT. A part is right or wrong: nothing may be
    /// missing at its end.
    pub fn judge_part(&self, given: Option<&[Frame]>) -> Judgement {
        match (self.part, given) {
            (None, None) => Judgement::matching(Reason::IllegalStart, Strength::whole(0)),
            (None, Some(_)) => Judgement::at(Verdict::Wrong, 0, Reason::IllegalStartAccepted),
            (Some(_), None) => Judgement::plain(Verdict::Wrong, Reason::LegalStartRefused),
            (Some(part), Some(given)) if part == given => {
                Judgement::matching(Reason::SameFrames, Strength::whole(part.len()))
            }
            (Some(part), Some(given)) => {
                let same = part.iter().zip(given);
                let same = same.take_while(|(part, given)| part == given).count();
                Judgement::at(Verdict::Wrong, same, Reason::OtherPart)
            }
        }
    }
}

impl Truth for SliceTruth<'_> {
    fn judge(&self, walk: &[Frame]) -> Judgement {
        self.judge_part(Some(walk))
    }

    fn expected(&self, _: &[Frame], faulty: &[Frame]) -> Expected {
        if self.part == Some(faulty) {
            Expected::Unexplained
        } else {
            Expected::Verdict(Verdict::Wrong)
        }
    }

    fn compared(&self, walk: &[Frame]) -> Vec<Compared> {
        vec![Compared::Bci; walk.len()]
    }

    fn stacks(&self) -> Vec<Stack<'_>> {
        self.part.map(Stack::Walked).into_iter().collect()
    }

    fn input(&self, _: &[Frame]) -> Input<'_> {
        Input {
            reference: self.part,
            ..Input::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Location, MethodKey};

    fn stack(frames: usize) -> Vec<Frame> {
        let frame = |at| Frame {
            method: MethodKey(at),
            location: Location(7),
        };
        (0..frames).map(frame).collect()
    }

    /// Frame by frame, as the specification says it.
    #[test]
    fn parts_are_those_of_the_specification() {
        for depth in 0..7_i32 {
            let stack = stack(depth as usize);
            for start_depth in -9..=9 {
                let is_illegal = start_depth > 0 && start_depth >= depth
                    || start_depth < 0 && start_depth < -depth;
                for max_frame_count in 0..9 {
                    let first = if start_depth < 0 {
                        depth + start_depth
                    } else {
                        start_depth
                    };
                    let is_asked = |&(at, _): &(usize, &Frame)| at as i32 >= first;
                    let part = stack.iter().enumerate().filter(is_asked);
                    let part: Vec<Frame> = part
                        .map(|(_, &frame)| frame)
                        .take(max_frame_count)
                        .collect();
                    let slice = Slice {
                        start_depth,
                        max_frame_count,
                    };
                    let expected = (!is_illegal).then_some(&part[..]);
                    assert_eq!(slice.of(&stack), expected, "{slice} of {depth}");
                }
            }
        }
    }

    #[test]
    fn random_parts_reach_beyond_both_ends() {
        let frames = stack(5);
        let random = |seed| Slice::random(frames.len(), crate::random::mix(seed));
        let slices: Vec<Slice> = (0..2000).map(random).collect();
        for start_depth in -7..=7 {
            let mut of = slices.iter();
            assert!(
                of.any(|slice| slice.start_depth == start_depth),
                "{start_depth}"
            );
        }
        for max_frame_count in 0..=7 {
            let mut of = slices.iter();
            assert!(of.any(|slice| slice.max_frame_count == max_frame_count));
        }
    }

    #[test]
    fn only_the_part_itself_is_right() {
        let stack = stack(6);
        let judged = |slice: Slice, given: Option<&[Frame]>| {
            let part = slice.of(&stack);
            let judged = SliceTruth { part }.judge_part(given);
            (judged.verdict, judged.at_frame, judged.reason)
        };
        let two = Slice {
            start_depth: 2,
            max_frame_count: 2,
        };
        let wrong = |at, reason| (Verdict::Wrong, at, reason);
        let right = (Verdict::Match, None, Reason::SameFrames);
        assert_eq!(judged(two, Some(&stack[2..4])), right);
        for (given, at) in [
            (&stack[1..3], 0),
            (&stack[3..5], 0),
            (&stack[2..3], 1),
            (&stack[2..5], 2),
            (&[], 0),
        ] {
            let expected = wrong(Some(at), Reason::OtherPart);
            assert_eq!(judged(two, Some(given)), expected, "{given:?}");
        }
        let refused = wrong(None, Reason::LegalStartRefused);
        assert_eq!(judged(two, None), refused);
        let none = Slice {
            max_frame_count: 0,
            ..two
        };
        assert_eq!(judged(none, Some(&[])), right);
        for start_depth in [6, 7, -7] {
            let outside = Slice { start_depth, ..two };
            let illegal = (Verdict::Match, None, Reason::IllegalStart);
            assert_eq!(judged(outside, None), illegal);
            let accepted = wrong(Some(0), Reason::IllegalStartAccepted);
            assert_eq!(judged(outside, Some(&[])), accepted);
            assert_eq!(judged(outside, Some(&stack[..2])), accepted);
        }
    }
}
