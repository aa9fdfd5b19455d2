//! The truth of GetStackTrace at the same place: another walker was asked in the same hook or event, and
//! both must give the same frames.
//!
//! In a virtual thread GetStackTrace gives that thread's own frames alone. Walkers such as AsyncGetCallTrace go on
//! with the carrier's frames, which the carrier's trace stack judges.

use super::mounted::parts;
use super::trace::TraceTruth;
use super::truth::{Boundary, Input, Stack, Truth};
use super::{Compared, Expected, Judgement, Reason, Strength, Unseen, Verdict};
use crate::trace::{Frame, Methods, TraceSnapshot};

/// Another walk at the same instant.
pub struct HereTruth<'a, M> {
    /// The other walk, without the carrier's part.
    pub reference: &'a [Frame],
    /// The trace stack of the carrier, if the thread is a virtual thread.
    pub carrier: Option<&'a TraceSnapshot<'a>>,
    /// Facts about methods.
    pub methods: &'a M,
    /// Where the carrier's part begins.
    pub boundary: Boundary<'a>,
}

impl<M: Methods> Truth for HereTruth<'_, M> {
    fn judge(&self, walk: &[Frame]) -> Judgement {
        let boundary = (self.boundary)(walk);
        let carrier = match (boundary, self.carrier) {
            (None, None) => return judge_whole(walk, self.reference),
            (Some(_), None) => return Judgement::plain(Verdict::Unverifiable, Reason::Mounting),
            (_, Some(carrier)) => TraceTruth::new(carrier, self.methods),
        };
        let (own, below_own) = walk.split_at(boundary.unwrap_or(walk.len()));
        let above = judge_whole(own, self.reference);
        let of_carrier = below_own.split_first().map(|(_, frames)| frames);
        match of_carrier {
            _ if above.is_mismatch() => above,
            None | Some([]) => {
                Judgement::at(Verdict::Truncated, walk.len(), Reason::CarrierMissing)
            }
            Some(frames) => {
                let found = carrier.judge(frames).below(own.len() + 1);
                let both = Judgement {
                    strength: above.strength + found.strength,
                    ..above
                };
                if found.is_mismatch() { found } else { both }
            }
        }
    }

    fn expected(&self, honest: &[Frame], faulty: &[Frame]) -> Expected {
        let (above, below) = parts(faulty, self.boundary);
        let (_, honest_below) = parts(honest, self.boundary);
        let unseen = match (self.carrier, below) {
            (None, Some(_)) => return Expected::Unseen(Unseen::Mounting),
            (None, None) => Expected::Unexplained,
            (Some(_), None | Some([])) => Expected::Verdict(Verdict::Truncated),
            (Some(_), Some(below)) if Some(below) == honest_below => Expected::Unexplained,
            (Some(carrier), Some(below)) => TraceTruth::new(carrier, self.methods)
                .expected(honest_below.unwrap_or_default(), below),
        };
        if above == self.reference {
            unseen
        } else if !above.is_empty() && self.reference.starts_with(above) {
            // An empty stack is not the top of a stack.
            Expected::Verdict(Verdict::Truncated)
        } else {
            Expected::Verdict(Verdict::Wrong)
        }
    }

    fn compared(&self, walk: &[Frame]) -> Vec<Compared> {
        vec![Compared::Bci; walk.len()]
    }

    fn stacks(&self) -> Vec<Stack<'_>> {
        vec![Stack::Walked(self.reference)]
    }

    fn input(&self, walk: &[Frame]) -> Input<'_> {
        Input {
            reference: Some(self.reference),
            carrier: self.carrier,
            boundary: (self.boundary)(walk),
            ..Input::default()
        }
    }
}

/// Both must have the same frames at the same locations. A walk that is the top part of the
/// `reference` is truncated.
fn judge_whole(walk: &[Frame], reference: &[Frame]) -> Judgement {
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
            let j = judge_whole(&walk(frames), &reference);
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
