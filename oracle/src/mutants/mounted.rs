//! The expected end of a fault in a walk of a thread that may carry a virtual thread.

use super::expected::{Expected, Unseen};
use super::of_trace::{is_bottom, of_truth};
use crate::Verdict;
use crate::trace::{Frame, Methods, Truth};

/// The index at which a walk passes from a virtual thread to its carrier, if it does.
pub type Boundary<'a> = &'a dyn Fn(&[Frame]) -> Option<usize>;

/// The parts of a walk above and below its boundary.
fn parts<'a>(walk: &'a [Frame], boundary: Boundary<'_>) -> (&'a [Frame], Option<&'a [Frame]>) {
    match boundary(walk) {
        Some(at) => (&walk[..at], Some(&walk[at + 1..])),
        None => (walk, None),
    }
}

/// The expected end of a faulty walk, if the trace stacks of a thread and of its `carrier` are
/// known.
pub(super) fn of_truths(
    truth: &Truth<'_>,
    carrier: Option<&Truth<'_>>,
    methods: &impl Methods,
    boundary: Boundary<'_>,
    honest: &[Frame],
    faulty: &[Frame],
) -> Expected {
    let (honest_above, honest_below) = parts(honest, boundary);
    let (above, below) = parts(faulty, boundary);
    let Some(carrier) = carrier else {
        // A walk with a boundary claims a mount under way, during which nothing is known.
        return match (honest_below, below) {
            (_, Some(below)) if truth.leaving.is_empty() && !is_bottom(truth, below, methods) => {
                of_truth(truth, methods, below, below)
            }
            (None, None) => of_truth(truth, methods, honest, faulty),
            (_, Some(_)) => Expected::Unseen(Unseen::Mounting),
            (Some(_), None) => match of_truth(truth, methods, honest, faulty) {
                Expected::Verdict(verdict) => Expected::Verdict(verdict),
                _ => Expected::Unseen(Unseen::Mounting),
            },
        };
    };
    let of_above = (above != honest_above).then(|| of_truth(truth, methods, honest_above, above));
    if let Some(Expected::Verdict(verdict)) = of_above {
        return Expected::Verdict(verdict);
    }
    let Some(below) = below else {
        return Expected::Verdict(Verdict::Truncated);
    };
    let honest_below = honest_below.unwrap_or_default();
    let of_below = (below != honest_below).then(|| of_truth(carrier, methods, honest_below, below));
    match (of_above, of_below) {
        (_, Some(Expected::Verdict(verdict))) => Expected::Verdict(verdict),
        (Some(unseen), _) | (None, Some(unseen)) => unseen,
        (None, None) => Expected::Unexplained,
    }
}

/// The expected end at a safepoint, where `reference` is the thread's stack without its carrier's.
pub(super) fn of_safepoint(
    reference: &[Frame],
    carrier: Option<&Truth<'_>>,
    methods: &impl Methods,
    boundary: Boundary<'_>,
    honest: &[Frame],
    faulty: &[Frame],
) -> Expected {
    let (above, below) = parts(faulty, boundary);
    let (_, honest_below) = parts(honest, boundary);
    let unseen = match (carrier, below) {
        (None, Some(_)) => return Expected::Unseen(Unseen::Mounting),
        (None, None) => Expected::Unexplained,
        (Some(_), None | Some([])) => Expected::Verdict(Verdict::Truncated),
        (Some(_), Some(below)) if Some(below) == honest_below => Expected::Unexplained,
        (Some(carrier), Some(below)) => {
            of_truth(carrier, methods, honest_below.unwrap_or_default(), below)
        }
    };
    match above == reference {
        true => unseen,
        // An empty stack is not the top of a stack.
        false if !above.is_empty() && reference.starts_with(above) => {
            Expected::Verdict(Verdict::Truncated)
        }
        false => Expected::Verdict(Verdict::Wrong),
    }
}
