use crate::judge::{Judgement, Reason, Strength, Verdict};
use crate::trace::Frame;

/// Compares a walk with a later walk of the thread, at its next safepoint: layer `asgct-gst`.
///
/// The thread has run in between, so the truth covers only the frames that did not change: from the
/// bottom up to the first frame whose method is the same and whose location differs. The frames
/// above may have changed freely. If the stacks diverge *without* such a frame, one call site has
/// two callees:
///
/// * one of the stacks ends there: the call began or returned in between;
/// * otherwise the next call of a loop cannot be distinguished from a false frame: unverifiable.
///
/// A thread's bottom frame does not change: if the walk's bottom frame is further up in the later
/// stack, the walk is truncated.
pub fn judge_moving(walk: &[Frame], later: &[Frame]) -> Judgement {
    if later.is_empty() {
        return Judgement::plain(Verdict::Unverifiable, Reason::NoFramesLater);
    }
    if walk.is_empty() {
        return Judgement::plain(Verdict::Unverifiable, Reason::NoFramesYet);
    }
    let same = walk
        .iter()
        .rev()
        .zip(later.iter().rev())
        .take_while(|(w, l)| w == l)
        .count();
    if same == walk.len() || same == later.len() {
        let strength = Strength::of(walk.len(), same, same);
        return Judgement::matching(Reason::SameBottom, strength);
    }
    let at = walk.len() - 1 - same;
    let (parted, other) = (walk[at], later[later.len() - 1 - same]);
    if parted.method == other.method {
        let strength = Strength::of(walk.len(), same + 1, same);
        return Judgement::matching(Reason::SameBelowMoved, strength);
    }
    if same > 0 {
        return Judgement::plain(Verdict::Unverifiable, Reason::TwoCallees);
    }
    if later[..later.len() - 1].contains(&parted) {
        Judgement::at(Verdict::Truncated, walk.len(), Reason::BottomMissing)
    } else {
        Judgement::plain(Verdict::Unverifiable, Reason::OtherBottom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Location, MethodKey};

    fn walk(bottom_first: &[(usize, i32)]) -> Vec<Frame> {
        bottom_first
            .iter()
            .rev()
            .map(|&(m, l)| Frame {
                method: MethodKey(m),
                location: Location(l),
            })
            .collect()
    }

    fn verdict(asgct: &[(usize, i32)], gst: &[(usize, i32)]) -> Verdict {
        judge_moving(&walk(asgct), &walk(gst)).verdict
    }

    #[test]
    fn movement_is_no_mismatch() {
        assert_eq!(
            verdict(&[(1, 1), (2, 2)], &[(1, 1), (2, 2)]),
            Verdict::Match
        );
        assert_eq!(
            verdict(&[(1, 1), (2, 2)], &[(1, 1), (2, 9), (3, 0)]),
            Verdict::Match
        );
        assert_eq!(
            verdict(&[(1, 1), (2, 2)], &[(1, 1), (2, 2), (3, 0)]),
            Verdict::Match
        );
        assert_eq!(
            verdict(&[(1, 1), (2, 2), (3, 3)], &[(1, 1), (2, 2)]),
            Verdict::Match
        );
    }

    #[test]
    fn a_missing_bottom_is_found() {
        let later = [(1, 1), (2, 2), (3, 3), (4, 4)];
        assert_eq!(verdict(&[(3, 3), (4, 4)], &later), Verdict::Truncated);
    }

    #[test]
    fn what_cannot_be_told_is_not_claimed() {
        assert_eq!(
            verdict(&[(1, 1), (5, 5)], &[(1, 1), (6, 6)]),
            Verdict::Unverifiable
        );
        assert_eq!(verdict(&[(7, 1)], &[(8, 1)]), Verdict::Unverifiable);
        assert_eq!(verdict(&[], &[(8, 1)]), Verdict::Unverifiable);
        assert_eq!(verdict(&[(8, 1)], &[]), Verdict::Unverifiable);
    }
}
