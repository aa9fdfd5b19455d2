//! The verdict by the findings on a stack: layer `call-edge`.

use crate::edge::{Finding, Impossible, Possible};
use crate::judge::{Compared, Judgement, Reason, Strength, Verdict};

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
pub(crate) fn mismatch(at: usize, finding: Finding) -> Option<Judgement> {
    let Finding::Impossible(fault) = finding else {
        return None;
    };
    let verdict = match fault {
        Impossible::NoEntry => Verdict::Truncated,
        _ => Verdict::Wrong,
    };
    Some(Judgement::at(verdict, at, Reason::Edge(fault)))
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
