//! What the findings on a stack come to: layer `call-edge`.

use crate::edge::{Finding, Impossible};
use crate::judge::{Judgement, Reason, Strength, Verdict};

/// The verdict on a stack by the findings on it, as [`crate::edge::Judge::stack`] makes them; none if a
/// method of it was redefined or unloaded, so that nobody knows what its class file was.
///
/// `truncated` if only the lowest frame is impossible: where it lies no thread starts. `wrong`
/// if any other edge is; `at_frame` is the lower frame of the uppermost one. `unverifiable` if
/// nothing is known of any edge. Otherwise `match`: nothing that is known forbids it, as far as
/// this layer's truth reaches.
pub fn judge_edges(found: Option<&[Finding]>) -> Judgement {
    let Some(found) = found else {
        return Judgement::plain(Verdict::Unverifiable, Reason::MethodGone);
    };
    let mut findings = found.iter().enumerate();
    if let Some(mismatch) = findings.find_map(|(at, &finding)| mismatch(at, finding)) {
        return mismatch;
    }
    let is_possible = |f: &&Finding| matches!(f, Finding::Possible(_));
    // Finding number n is on the location of frame n and on the method of the frame above.
    let (frames, locations) = (found.len().saturating_sub(1), found.iter());
    let methods = found.iter().skip(1);
    match found.iter().any(|f| is_possible(&f)) {
        true => {
            let by_method = methods.filter(is_possible).count();
            let by_bci = locations.take(frames).filter(is_possible).count();
            let strength = Strength::of(frames, by_method, by_bci.min(by_method));
            Judgement::matching(Reason::NoImpossibleEdge, strength)
        }
        false => Judgement::plain(Verdict::Unverifiable, Reason::NoKnownEdge),
    }
}

/// What finding number `at` on a stack is by itself, if it is impossible.
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
    use crate::edge::{Possible, Unknown};

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
