//! The truth of Java's own stack traces: the stack at the same instant, with lines in place of BCIs.

use super::truth::{Input, Stack, Truth};
use super::{Compared, Expected, Judgement, Reason, Strength, Unseen, Verdict};
use crate::model::Element;
use crate::trace::Frame;

/// The true stack at the same instant, top frame first.
#[derive(Copy, Clone, Debug)]
pub struct ElementsTruth<'a>(pub &'a [Element]);

impl Truth for ElementsTruth<'_> {
    fn judge(&self, walk: &[Frame]) -> Judgement {
        judge(walk, self.0)
    }

    fn expected(&self, _: &[Frame], faulty: &[Frame]) -> Expected {
        expected(faulty, self.0)
    }

    /// Lines are less than BCIs.
    fn compared(&self, walk: &[Frame]) -> Vec<Compared> {
        vec![Compared::Method; walk.len()]
    }

    /// None of method keys.
    fn stacks(&self) -> Vec<Stack<'_>> {
        vec![]
    }

    /// Nothing: stacks of lines are not recorded.
    fn input(&self, _: &[Frame]) -> Input<'_> {
        Input::default()
    }
}

/// Compares a walk with the true stack at the same instant, top frame first.
///
/// The walk must have the same frames in the same order, apart from frames that may be left out. A walk that is the top
/// part of such a stack is truncated.
fn judge(walk: &[Frame], truth: &[Element]) -> Judgement {
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

/// How many frames of `truth` the faulty stack may show so far, for each way to leave frames out.
struct Shown<'a> {
    truth: &'a [Element],
    upto: Vec<bool>,
}

impl<'a> Shown<'a> {
    fn nothing(truth: &'a [Element]) -> Shown<'a> {
        let mut upto = vec![false; truth.len() + 1];
        upto[0] = true;
        Shown { truth, upto }.or_left_out()
    }

    fn or_left_out(mut self) -> Shown<'a> {
        for (at, element) in self.truth.iter().enumerate() {
            self.upto[at + 1] |= self.upto[at] && element.may_be_left_out;
        }
        self
    }

    fn and(self, frame: &Frame) -> Shown<'a> {
        let mut upto = vec![false; self.upto.len()];
        for (at, element) in self.truth.iter().enumerate() {
            upto[at + 1] = self.upto[at] && element.frame == *frame;
        }
        Shown { upto, ..self }.or_left_out()
    }
}

fn expected(faulty: &[Frame], truth: &[Element]) -> Expected {
    let shown = faulty.iter().fold(Shown::nothing(truth), Shown::and);
    let is_whole = shown.upto[truth.len()];
    let is_begun = shown.upto.contains(&true) && !faulty.is_empty();
    match (is_whole, is_begun) {
        (true, _) => Expected::Unseen(Unseen::LeftOut),
        (false, true) => Expected::Verdict(Verdict::Truncated),
        (false, false) => Expected::Verdict(Verdict::Wrong),
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
        let judged = ElementsTruth(&truth).judge(&walk);
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
