//! The expected end of a fault if class files are the truth.

use super::expected::{Expected, Unseen};
use crate::Verdict;
use crate::edge::Finding;
use crate::judge::{Edged, judge_edges};
use crate::trace::Frame;

pub(super) fn of_edges(honest: &[Frame], faulty: &[Frame], found: Option<&[Finding]>) -> Expected {
    let judgement = judge_edges(found);
    if judgement.is_mismatch() {
        return Expected::Verdict(judgement.verdict);
    }
    let unknown = |finding: &Finding| matches!(finding, Finding::Unknown(_));
    Expected::Unseen(match found {
        None => Unseen::Gone,
        Some(_) if without_recursion(honest).eq(without_recursion(faulty)) => Unseen::Recursion,
        Some(found) if found.iter().any(unknown) => Unseen::UnknownEdge,
        Some(_) => Unseen::Allowed,
    })
}

/// The expected end if another truth comes first that cannot show the fault. `unseen` says why.
pub(super) fn of_also_classes(unseen: Expected, found: Option<&[Finding]>) -> Expected {
    let judgement = judge_edges(found);
    if judgement.is_mismatch() {
        Expected::Verdict(judgement.verdict)
    } else {
        unseen
    }
}

/// The frames that differ from the frame above.
fn without_recursion(stack: &[Frame]) -> impl Iterator<Item = &Frame> {
    stack
        .chunk_by(|above, below| above == below)
        .map(|equal| &equal[0])
}

pub(super) fn of_later(
    honest: &[Frame],
    faulty: &[Frame],
    later: Edged<'_>,
    found: Option<&[Finding]>,
) -> Expected {
    let (bottom, last) = (faulty.last(), later.stack.last());
    // A bottom frame whose location changed is still the bottom.
    let keeps_bottom =
        bottom == honest.last() || bottom.map(|f| f.method) == last.map(|f| f.method);
    if !keeps_bottom && bottom.is_some_and(|bottom| later.stack.contains(bottom)) {
        return Expected::Verdict(Verdict::Truncated);
    }
    if let Some(mismatch) = later.forbids(Edged::new(faulty, found)) {
        return Expected::Verdict(mismatch.verdict);
    }
    Expected::Unseen(match last {
        None => Unseen::NoTruth,
        Some(_) if keeps_bottom => Unseen::RanOn,
        Some(_) => Unseen::OtherBottom,
    })
}
