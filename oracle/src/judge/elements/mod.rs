//! Stacks that show classes, methods and lines, such as those of `Thread.getStackTrace`.

use crate::judge::{Compared, Judgement, Reason, Strength, Verdict};
use crate::trace::Frame;

/// A frame of the true stack, as an API shows it that gives no BCI.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Element {
    /// The method, and the line in place of the BCI. All methods of one name in classes of one name have one key.
    pub frame: Frame,
    /// Whether the API may leave the frame out: the VM hides frames of some methods.
    pub may_be_left_out: bool,
}

/// Compares a walk with the true stack at the same instant, top frame first.
///
/// The walk must have the same frames in the same order, apart from frames that may be left out. A walk that is the top
/// part of such a stack is truncated.
pub fn judge_elements(walk: &[Frame], truth: &[Element]) -> Judgement {
    let mut at = 0;
    for element in truth {
        match walk.get(at) {
            Some(frame) if *frame == element.frame => at += 1,
            _ if element.may_be_left_out => {}
            None if walk.is_empty() => return Judgement::at(Verdict::Wrong, 0, Reason::NoFrame),
            None => return Judgement::at(Verdict::Truncated, at, Reason::BottomMissing),
            Some(frame) if frame.method == element.frame.method => {
                return Judgement::at(Verdict::Wrong, at, Reason::OtherLocation);
            }
            Some(_) => return Judgement::at(Verdict::Wrong, at, Reason::OtherMethod),
        }
    }
    match at == walk.len() {
        // Lines are less than BCIs.
        true => Judgement::matching(
            Reason::SameFrames,
            Strength::of_frames(&vec![Compared::Method; walk.len()]),
        ),
        false => Judgement::at(Verdict::Wrong, at, Reason::BelowBottom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Location, MethodKey};

    fn frame((method, line): (usize, i32)) -> Frame {
        Frame {
            method: MethodKey(method),
            location: Location(line),
        }
    }

    /// The verdict on a walk of the stack 1, 2, 3, whose frame 2 may be left out.
    fn judged(walk: &[(usize, i32)]) -> (Verdict, Option<usize>) {
        let element = |(method, line)| Element {
            frame: frame((method, line)),
            may_be_left_out: method == 2,
        };
        let truth = [(1, 10), (2, 20), (3, 30)].map(element);
        let walk: Vec<_> = walk.iter().copied().map(frame).collect();
        let judged = judge_elements(&walk, &truth);
        (judged.verdict, judged.at_frame)
    }

    #[test]
    fn a_frame_may_be_left_out_where_the_api_may_hide_it() {
        assert_eq!(judged(&[(1, 10), (2, 20), (3, 30)]).0, Verdict::Match);
        assert_eq!(judged(&[(1, 10), (3, 30)]).0, Verdict::Match);
        assert_eq!(judged(&[(2, 20), (3, 30)]), (Verdict::Wrong, Some(0)));
    }

    #[test]
    fn each_difference_has_its_verdict() {
        assert_eq!(judged(&[]), (Verdict::Wrong, Some(0)));
        assert_eq!(judged(&[(1, 10)]), (Verdict::Truncated, Some(1)));
        assert_eq!(judged(&[(1, 10), (2, 20)]), (Verdict::Truncated, Some(2)));
        assert_eq!(judged(&[(1, 11), (3, 30)]), (Verdict::Wrong, Some(0)));
        assert_eq!(
            judged(&[(1, 10), (2, 21), (3, 30)]),
            (Verdict::Wrong, Some(1))
        );
        let added = [(1, 10), (2, 20), (3, 30), (3, 30)];
        assert_eq!(judged(&added), (Verdict::Wrong, Some(3)));
        assert_eq!(
            judged(&[(2, 20), (1, 10), (3, 30)]),
            (Verdict::Wrong, Some(0))
        );
    }
}
