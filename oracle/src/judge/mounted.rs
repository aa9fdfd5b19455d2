//! The truth of a thread that may carry a virtual thread: its trace stack and the carrier's. The walk has the virtual
//! thread's frames above a boundary, and those of its carrier below.

use super::trace::{TraceTruth, is_bottom, judge_bottom};
use super::truth::{Boundary, Input, Reference, Stack, Truth};
use super::{Compared, Expected, Judgement, Reason, Unseen, Verdict};
use crate::trace::{Frame, Methods, TraceSnapshot};

/// The trace stack of a thread, and that of its carrier if the thread is a virtual thread.
pub struct MountedTruth<'a, M> {
    /// The thread's trace stack.
    pub trace: &'a TraceSnapshot<'a>,
    /// The carrier's trace stack. Without one no virtual thread is carried.
    pub carrier: Option<&'a TraceSnapshot<'a>>,
    /// Facts about methods.
    pub methods: &'a M,
    /// Where the carrier's part begins.
    pub boundary: Boundary<'a>,
}

impl<M: Methods> Truth for MountedTruth<'_, M> {
    fn judge(&self, walk: &[Frame]) -> Judgement {
        let of = |trace| TraceTruth::new(trace, self.methods);
        let own = of(self.trace);
        match ((self.boundary)(walk), self.carrier.map(of)) {
            (None, None) => own.judge(walk),
            (Some(at), None) => {
                // Above the boundary nothing is known. The thread's own frames are below.
                let found = judge_bottom(&walk[at + 1..], self.trace, self.methods);
                let mounting = Judgement::plain(Verdict::Unverifiable, Reason::Mounting);
                found.map_or(mounting, |found| found.below(at + 1))
            }
            (Some(at), Some(carrier)) => {
                let above = own.judge(&walk[..at]);
                let below = carrier.judge(&walk[at + 1..]).below(at + 1);
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
                let above = own.judge(walk);
                if above.is_mismatch() {
                    return above;
                }
                Judgement::at(Verdict::Truncated, walk.len(), Reason::CarrierMissing)
            }
        }
    }

    fn expected(&self, honest: &[Frame], faulty: &[Frame]) -> Expected {
        let of = |trace| TraceTruth::new(trace, self.methods);
        let own = of(self.trace);
        let (honest_above, honest_below) = parts(honest, self.boundary);
        let (above, below) = parts(faulty, self.boundary);
        let Some(carrier) = self.carrier.map(of) else {
            // A walk with a boundary claims a mount under way, during which nothing is known.
            return match (honest_below, below) {
                (_, Some(below))
                    if self.trace.leaving.is_empty()
                        && !is_bottom(self.trace, below, self.methods) =>
                {
                    own.expected(below, below)
                }
                (None, None) => own.expected(honest, faulty),
                (_, Some(_)) => Expected::Unseen(Unseen::Mounting),
                (Some(_), None) => match own.expected(honest, faulty) {
                    Expected::Verdict(verdict) => Expected::Verdict(verdict),
                    _ => Expected::Unseen(Unseen::Mounting),
                },
            };
        };
        let of_above = (above != honest_above).then(|| own.expected(honest_above, above));
        if let Some(Expected::Verdict(verdict)) = of_above {
            return Expected::Verdict(verdict);
        }
        let Some(below) = below else {
            return Expected::Verdict(Verdict::Truncated);
        };
        let honest_below = honest_below.unwrap_or_default();
        let of_below = (below != honest_below).then(|| carrier.expected(honest_below, below));
        match (of_above, of_below) {
            (_, Some(Expected::Verdict(verdict))) => Expected::Verdict(verdict),
            (Some(unseen), _) | (None, Some(unseen)) => unseen,
            (None, None) => Expected::Unexplained,
        }
    }

    fn compared(&self, walk: &[Frame]) -> Vec<Compared> {
        let of = |trace, walk| TraceTruth::new(trace, self.methods).compared(walk);
        match ((self.boundary)(walk), self.carrier) {
            (Some(at), Some(carrier)) => {
                let mut compared = of(self.trace, &walk[..at]);
                compared.push(Compared::Method);
                compared.extend(of(carrier, &walk[at + 1..]));
                compared
            }
            _ => of(self.trace, walk),
        }
    }

    fn has_all_of(&self, walk: &[Frame]) -> bool {
        match self.carrier {
            None => TraceTruth::new(self.trace, self.methods).has_all_of(walk),
            Some(_) => matches!(self.judge(walk).verdict, Verdict::Match | Verdict::Window),
        }
    }

    fn stacks(&self) -> Vec<Stack<'_>> {
        let carrier = self.carrier.into_iter();
        [self.trace]
            .into_iter()
            .chain(carrier)
            .map(Stack::Trace)
            .collect()
    }

    /// The checked frames are answers of GetStackTrace that agreed with the trace stack.
    fn references(&self) -> Vec<Reference> {
        let reference = |trace: &TraceSnapshot<'_>, is_whole| Reference {
            stack: trace.checked.iter().rev().copied().collect(),
            is_whole,
        };
        let own = reference(self.trace, self.carrier.is_none());
        let carrier = self.carrier.map(|carrier| reference(carrier, true));
        [Some(own), carrier].into_iter().flatten().collect()
    }

    fn input(&self, walk: &[Frame]) -> Input<'_> {
        Input {
            trace: Some(self.trace),
            carrier: self.carrier,
            boundary: (self.boundary)(walk),
            ..Input::default()
        }
    }
}

/// The parts of a walk above and below its boundary.
pub(super) fn parts<'a>(
    walk: &'a [Frame],
    boundary: Boundary<'_>,
) -> (&'a [Frame], Option<&'a [Frame]>) {
    match boundary(walk) {
        Some(at) => (&walk[..at], Some(&walk[at + 1..])),
        None => (walk, None),
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
        let truth = |entries| TraceSnapshot {
            entries,
            ..TraceSnapshot::default()
        };
        let below = below.as_deref().map(truth);
        let boundary = walk.iter().position(|frame| frame.method.0 == BOUNDARY);
        let found = MountedTruth {
            trace: &truth(&entries),
            carrier: below.as_ref(),
            methods: &TOY,
            boundary: &|_| boundary,
        };
        let found = found.judge(&walk);
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
