//! Walks of threads that may carry a virtual thread: its frames lie above a boundary, those of
//! its carrier below.

use crate::judge::trace::judge_bottom;
use crate::judge::{Judgement, Reason, Verdict, judge_same_instant, judge_truth};
use crate::trace::{Frame, Methods, Truth};

/// Compares a walk with `truth`, and the part below the boundary with that of the carrier.
///
/// `boundary` is where the walk passes from the one to the other. Without a `carrier` no
/// virtual thread is carried.
pub fn judge_mounted(
    walk: &[Frame],
    truth: &Truth<'_>,
    carrier: Option<&Truth<'_>>,
    boundary: Option<usize>,
    methods: &impl Methods,
) -> Judgement {
    match (boundary, carrier) {
        (None, None) => judge_truth(walk, truth, methods),
        (Some(at), None) => {
            // Above the boundary nothing is known. The thread's own frames are below.
            let found = judge_bottom(&walk[at + 1..], truth, methods);
            let mounting = Judgement::plain(Verdict::Unverifiable, Reason::Mounting);
            found.map_or(mounting, |found| below(found, at + 1))
        }
        (Some(at), Some(carrier)) => {
            let above = judge_truth(&walk[..at], truth, methods);
            let below = below(judge_truth(&walk[at + 1..], carrier, methods), at + 1);
            match (above.verdict, below.verdict) {
                (Verdict::Match, Verdict::Match) => Judgement {
                    strength: above.strength + below.strength,
                    ..above
                },
                _ if below.is_mismatch() && !above.is_mismatch() => below,
                _ => above,
            }
        }
        (None, Some(_)) => {
            let above = judge_truth(walk, truth, methods);
            if above.is_mismatch() {
                return above;
            }
            Judgement::at(Verdict::Truncated, walk.len(), Reason::CarrierMissing)
        }
    }
}

/// Judges the frames of a carrier.
pub type JudgesCarrier<'a> = &'a dyn Fn(&[Frame]) -> Judgement;

/// Compares a walk of the calling thread with GetStackTrace's, which ends where a virtual
/// thread's carrier begins. `carrier` judges the frames of that one; without it no virtual thread is
/// carried.
pub fn judge_mounted_at_safepoint(
    walk: &[Frame],
    gst: &[Frame],
    carrier: Option<JudgesCarrier<'_>>,
    boundary: Option<usize>,
) -> Judgement {
    let carrier = match (boundary, carrier) {
        (None, None) => return judge_same_instant(walk, gst),
        (Some(_), None) => return Judgement::plain(Verdict::Unverifiable, Reason::Mounting),
        (_, Some(carrier)) => carrier,
    };
    let (own, below_own) = walk.split_at(boundary.unwrap_or(walk.len()));
    let above = judge_same_instant(own, gst);
    let of_carrier = below_own.split_first().map(|(_, frames)| frames);
    match of_carrier {
        _ if above.is_mismatch() => above,
        None | Some([]) => Judgement::at(Verdict::Truncated, walk.len(), Reason::CarrierMissing),
        Some(frames) => {
            let found = below(carrier(frames), own.len() + 1);
            let both = Judgement {
                strength: above.strength + found.strength,
                ..above
            };
            if found.is_mismatch() { found } else { both }
        }
    }
}

/// A judgement of the part of a walk that starts at `start`, as one of the whole.
fn below(judgement: Judgement, start: usize) -> Judgement {
    Judgement {
        at_frame: judgement.at_frame.map(|at| at + start),
        ..judgement
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::toy::InOwnCode;
    use crate::trace::{HookId, Location, MethodKey};

    /// Methods 1 to 99 are hooked under their own number and stand in their own code.
    const TOY: InOwnCode = InOwnCode(|method| (1..100).contains(&method));

    const BOUNDARY: usize = 400;

    /// Judges a walk, top first, of a thread with these entries, bottom first.
    fn judge(walk: &[usize], entries: &[u32], carrier: Option<&[u32]>) -> (Verdict, Option<usize>) {
        let frame = |&method: &usize| Frame {
            method: MethodKey(method),
            location: Location(10),
        };
        let walk: Vec<_> = walk.iter().map(frame).collect();
        let hooks = |entries: &[u32]| entries.iter().copied().map(HookId).collect::<Vec<_>>();
        let (entries, below) = (hooks(entries), carrier.map(hooks));
        let truth = |entries| Truth {
            entries,
            ..Truth::default()
        };
        let below = below.as_deref().map(truth);
        let boundary = walk.iter().position(|frame| frame.method.0 == BOUNDARY);
        let found = judge_mounted(&walk, &truth(&entries), below.as_ref(), boundary, &TOY);
        (found.verdict, found.at_frame)
    }

    /// A walker that invents `enterSpecial` gets no more than doubt, and only for what lies above.
    #[test]
    fn a_boundary_while_nothing_is_mounted_excuses_no_frame_below() {
        let doubt = (Verdict::Unverifiable, None);
        assert_eq!(judge(&[7, BOUNDARY, 2, 1], &[1, 2], None), doubt);
        let wrong = judge(&[7, BOUNDARY, 3, 1], &[1, 2], None);
        assert_eq!(wrong, (Verdict::Wrong, Some(2)));
        let truncated = judge(&[7, BOUNDARY, 2], &[1, 2], None);
        assert_eq!(truncated, (Verdict::Truncated, Some(3)));
    }

    #[test]
    fn the_part_of_the_carrier_is_held_against_its_trace_stack() {
        let carrier = Some(&[1, 2][..]);
        let whole = (Verdict::Match, None);
        assert_eq!(judge(&[7, BOUNDARY, 2, 1], &[7], carrier), whole);
        let wrong = judge(&[7, BOUNDARY, 2, 3], &[7], carrier);
        assert_eq!(wrong, (Verdict::Wrong, Some(3)));
        let missing = judge(&[7], &[7], carrier);
        assert_eq!(missing, (Verdict::Truncated, Some(1)));
    }
}
