//! The truth of class files: whether each frame can have called the frame above. It needs no hooks, and sees
//! only what no thread can do.

use super::truth::{Edges, Input, Stack, Truth};
use super::{Compared, Expected, Judgement, Reason, Strength, Unseen, Verdict};
use crate::edge::{Finding, Impossible, Possible};
use crate::trace::{Frame, MethodKey};

/// The class files of the methods of a thread's stacks.
pub struct ClassesTruth<'a>(pub &'a Edges<'a>);

impl Truth for ClassesTruth<'_> {
    fn judge(&self, walk: &[Frame]) -> Judgement {
        judge_edges((self.0)(walk).as_deref())
    }

    fn expected(&self, honest: &[Frame], faulty: &[Frame]) -> Expected {
        expected(honest, faulty, (self.0)(faulty).as_deref())
    }

    fn compared(&self, walk: &[Frame]) -> Vec<Compared> {
        vec![Compared::Nothing; walk.len()]
    }

    fn stacks(&self) -> Vec<Stack<'_>> {
        vec![]
    }

    fn input(&self, walk: &[Frame]) -> Input<'_> {
        Input {
            edges: (self.0)(walk),
            ..Input::default()
        }
    }
}

/// The verdict on a stack by the findings on it, as [`crate::edge::Judge::stack`] makes them;
/// `None` if a method of the stack was redefined or unloaded, so that its class file is not known.
///
/// `truncated` if only the lowest edge is impossible: no thread starts with this frame. `wrong` if
/// another edge is impossible; `at_frame` is the lower frame of the uppermost such edge.
/// `unverifiable` if all edges are unknown. Otherwise `match`: no known edge is impossible.
pub fn judge_edges(found: Option<&[Finding]>) -> Judgement {
    let Some(found) = found else {
        return Judgement::plain(Verdict::Unverifiable, Reason::MethodGone);
    };
    let mut findings = found.iter().enumerate();
    if let Some(mismatch) = findings.find_map(|(at, &finding)| mismatch(at, finding)) {
        return mismatch;
    }
    if found.iter().copied().any(is_possible) {
        let strength = Strength::of_frames(&compared(found).collect::<Vec<_>>());
        Judgement::matching(Reason::NoImpossibleEdge, strength)
    } else {
        Judgement::plain(Verdict::Unverifiable, Reason::NoKnownEdge)
    }
}

fn is_possible(finding: Finding) -> bool {
    matches!(finding, Finding::Possible(_))
}

/// How class files were compared with each frame of a walk that has these findings.
///
/// Finding number n is on frame n, method and location, and on the method of the frame above. The
/// top calls nothing, so that nothing tells the top's BCI from another one.
pub(super) fn compared(found: &[Finding]) -> impl Iterator<Item = Compared> + '_ {
    let proves = |finding| match finding {
        // The caller's code is in no class file.
        Finding::Possible(Possible::Generated) => false,
        finding => is_possible(finding),
    };
    let frames = found.windows(2).enumerate();
    frames.map(
        move |(at, pair)| match (proves(pair[0]) && at > 0, proves(pair[1])) {
            (true, _) => Compared::Bci,
            (false, true) => Compared::Method,
            (false, false) => Compared::Nothing,
        },
    )
}

/// The judgement by finding number `at` on a stack alone, if the finding is impossible.
fn mismatch(at: usize, finding: Finding) -> Option<Judgement> {
    let Finding::Impossible(fault) = finding else {
        return None;
    };
    let verdict = match fault {
        Impossible::NoEntry => Verdict::Truncated,
        _ => Verdict::Wrong,
    };
    Some(Judgement::at(verdict, at, Reason::Edge(fault)))
}

fn expected(honest: &[Frame], faulty: &[Frame], found: Option<&[Finding]>) -> Expected {
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

/// The frames that differ from the frame above.
fn without_recursion(stack: &[Frame]) -> impl Iterator<Item = &Frame> {
    stack
        .chunk_by(|above, below| above == below)
        .map(|equal| &equal[0])
}

/// A stack, top frame first, with what the class files say of it.
#[derive(Copy, Clone, Debug)]
pub struct Edged<'a> {
    /// The stack.
    pub stack: &'a [Frame],
    /// The findings on it, as [`crate::edge::Judge::stack`] makes them; none where class files are not
    /// kept, or a method of it was redefined or unloaded.
    pub found: Option<&'a [Finding]>,
}

impl<'a> Edged<'a> {
    /// A stack and the findings on it.
    pub fn new(stack: &'a [Frame], found: Option<&'a [Finding]>) -> Edged<'a> {
        Edged { stack, found }
    }

    /// What the class files forbid: the number of each such finding, and the finding.
    pub(super) fn faults(self) -> impl Iterator<Item = (usize, Finding)> + 'a {
        let findings = self.found.unwrap_or_default().iter().copied().enumerate();
        findings.filter(|(_, finding)| finding.is_impossible())
    }

    /// Whether the class files forbid `edge` here.
    fn has_fault(self, edge: Edge) -> bool {
        self.faults().any(|(at, _)| edge_at(self.stack, at) == edge)
    }

    /// Why the class files forbid `walk`, where this is a stack of the same thread that is true.
    ///
    /// An edge that they forbid here too speaks against them, and accuses nobody. Where they
    /// tell nothing of one of the two stacks, they forbid nothing.
    pub fn forbids(self, walk: Edged<'_>) -> Option<Judgement> {
        self.found?;
        walk.forbidden(&[self])
    }

    /// The uppermost edge of this stack that class files forbid, and that no reference has.
    pub(super) fn forbidden(self, references: &[Edged<'_>]) -> Option<Judgement> {
        let excused = |edge| references.iter().any(|reference| reference.has_fault(edge));
        let mut faults = self.faults();
        let (at, finding) = faults.find(|&(at, _)| !excused(edge_at(self.stack, at)))?;
        mismatch(at, finding)
    }
}

/// What a finding is on: a method, and the frame that the method's frame lies on. The top has nothing
/// above, the lowest frame nothing below.
type Edge = (Option<MethodKey>, Option<Frame>);

fn edge_at(stack: &[Frame], at: usize) -> Edge {
    let above = at.checked_sub(1).and_then(|above| stack.get(above));
    (above.map(|frame| frame.method), stack.get(at).copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::Unknown;

    #[test]
    fn the_uppermost_fault_counts() {
        let yes = Finding::Possible(Possible::Static);
        let maybe = Finding::Unknown(Unknown::Receiver);
        let no = Finding::Impossible(Impossible::OtherName);
        let none = Finding::Impossible(Impossible::NoEntry);
        for (found, expected, at) in [
            (Some(&[yes, maybe, yes][..]), Verdict::Match, None),
            (Some(&[maybe, maybe]), Verdict::Unverifiable, None),
            (Some(&[]), Verdict::Unverifiable, None),
            (None, Verdict::Unverifiable, None),
            (Some(&[yes, no, yes, none]), Verdict::Wrong, Some(1)),
            (Some(&[yes, maybe, none]), Verdict::Truncated, Some(2)),
        ] {
            let judgement = judge_edges(found);
            assert_eq!((judgement.verdict, judgement.at_frame), (expected, at));
        }
    }
}
