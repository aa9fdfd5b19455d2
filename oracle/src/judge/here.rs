use crate::judge::{Judgement, Reason, Strength, Verdict};
use crate::trace::Frame;

/// Compares two walks of one thread at one instant: layer `asgct-safepoint`.
///
/// Both must have the same frames at the same locations. A walk that is the top part of
/// the `reference` is truncated.
pub fn judge_same_instant(walk: &[Frame], reference: &[Frame]) -> Judgement {
    match walk.iter().zip(reference).position(|(w, r)| w != r) {
        Some(at) => {
            let reason = if walk[at].method == reference[at].method {
                Reason::OtherLocation
            } else {
                Reason::OtherMethod
            };
            Judgement::at(Verdict::Wrong, at, reason)
        }
        None if walk.len() == reference.len() => {
            Judgement::matching(Reason::SameFrames, Strength::whole(walk.len()))
        }
        None if walk.is_empty() => Judgement::at(Verdict::Wrong, 0, Reason::NoFrame),
        None if walk.len() < reference.len() => {
            Judgement::at(Verdict::Truncated, walk.len(), Reason::BottomMissing)
        }
        None => Judgement::at(Verdict::Wrong, reference.len(), Reason::BelowBottom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Location, MethodKey};

    fn walk(frames: &[(usize, i32)]) -> Vec<Frame> {
        frames
            .iter()
            .map(|&(m, l)| Frame {
                method: MethodKey(m),
                location: Location(l),
            })
            .collect()
    }

    #[test]
    fn each_difference_has_its_verdict() {
        let reference = walk(&[(1, 5), (2, 7), (3, 9)]);
        let verdict = |frames: &[(usize, i32)]| {
            let j = judge_same_instant(&walk(frames), &reference);
            (j.verdict, j.at_frame)
        };
        assert_eq!(verdict(&[(1, 5), (2, 7), (3, 9)]), (Verdict::Match, None));
        assert_eq!(verdict(&[(1, 5), (2, 7)]), (Verdict::Truncated, Some(2)));
        assert_eq!(verdict(&[(2, 7), (3, 9)]), (Verdict::Wrong, Some(0)));
        assert_eq!(
            verdict(&[(1, 5), (2, 8), (3, 9)]),
            (Verdict::Wrong, Some(1))
        );
        assert_eq!(
            verdict(&[(1, 5), (2, 7), (3, 9), (4, 0)]),
            (Verdict::Wrong, Some(3))
        );
        assert_eq!(verdict(&[]), (Verdict::Wrong, Some(0)));
    }
}
