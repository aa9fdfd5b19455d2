//! The expected end of a fault if the calls and returns of a thread's steps are the truth.

use super::expected::{Expected, Unseen};
use crate::Verdict;
use crate::judge::{StepFrame, StepTruth};
use crate::trace::Frame;

pub(super) fn of_steps(faulty: &[Frame], truth: &StepTruth) -> Expected {
    let is = |known: &StepFrame, frame: &Frame| {
        known.method == frame.method && known.location.is_none_or(|at| at == frame.location)
    };
    let starts_with_faulty = |stack: &[StepFrame]| {
        let mut pairs = stack.iter().zip(faulty);
        faulty.len() <= stack.len() && pairs.all(|(known, frame)| is(known, frame))
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
