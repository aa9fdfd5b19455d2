//! The expected end of a fault in a stack of classes, methods and lines.

use super::expected::{Expected, Unseen};
use crate::Verdict;
use crate::judge::Element;
use crate::trace::Frame;

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

pub(super) fn of_elements(faulty: &[Frame], truth: &[Element]) -> Expected {
    let shown = faulty.iter().fold(Shown::nothing(truth), Shown::and);
    let is_whole = shown.upto[truth.len()];
    let is_begun = shown.upto.contains(&true) && !faulty.is_empty();
    match (is_whole, is_begun) {
        (true, _) => Expected::Unseen(Unseen::LeftOut),
        (false, true) => Expected::Verdict(Verdict::Truncated),
        (false, false) => Expected::Verdict(Verdict::Wrong),
    }
}
