//! Counts of verdicts, and their fixed layout in memory shared with the agent.
//!
//! The agent counts in a file that the agent maps and the runner reads, so the counts survive a
//! crash or a kill of the target. The file is an array of little-endian `u64`: one block of
//! [`SLOTS_PER_LAYER`] for each layer of [`Layer::ALL`], in order.

use crate::judge::{Judgement, Strength};
use crate::{Layer, Verdict, bound};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Why a sample was lost.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drop {
    /// The target did not answer the signal in time.
    NoAnswer,
    /// The target ended between its choice and its answer.
    ThreadEnded,
    /// The stack is deeper than the record.
    TooDeep,
    /// All records were in use.
    #[serde(rename = "no-record")]
    NoFreeRecord,
    /// The trace stack has no room for all frames.
    TraceStackFull,
    /// An error of the VM, such as a StackOverflowError, may have ended frames without a hook, and
    /// no hook has corrected the trace stack since.
    InDoubt,
}

impl Drop {
    /// All causes, in the order of their slots.
    pub const ALL: [Drop; 6] = [
        Drop::NoAnswer,
        Drop::ThreadEnded,
        Drop::TooDeep,
        Drop::NoFreeRecord,
        Drop::TraceStackFull,
        Drop::InDoubt,
    ];
}

/// Error codes from 0 down to this one have a slot each: JVMTI's codes go up to 116, and have a minus sign here.
/// AsyncGetCallTrace's go down to -11, and those of AsyncGetStackTrace to -24.
pub const LOWEST_ERROR: i32 = -127;
const FIRST_ERROR: usize = 5;
const FIRST_DROP: usize = FIRST_ERROR + 1 + LOWEST_ERROR.unsigned_abs() as usize;

/// The slot behind the causes of drops.
const IMPRECISE: usize = FIRST_DROP + Drop::ALL.len();
const FIRST_STRENGTH: usize = IMPRECISE + 1;

/// Slots of one layer: five verdicts, the error codes, the causes of drops, `imprecise`, the
/// three numbers of the strength of matches, the flagged answers.
pub const SLOTS_PER_LAYER: usize = 160;

/// Slots of all layers.
pub const SLOTS: usize = SLOTS_PER_LAYER * Layer::ALL.len();

/// The slot of the flagged answers.
const FLAGGED: usize = FIRST_STRENGTH + 3;

const _: () = assert!(FLAGGED < SLOTS_PER_LAYER);

/// The slot that counts `verdict` in `layer`. Codes out of range count as the lowest.
pub fn slot(layer: Layer, verdict: Verdict) -> usize {
    let within = match verdict {
        Verdict::Match => 0,
        Verdict::Window => 1,
        Verdict::Unverifiable => 2,
        Verdict::Truncated => 3,
        Verdict::Wrong => 4,
        Verdict::Imprecise => IMPRECISE,
        Verdict::Error(code) => FIRST_ERROR + code.clamp(LOWEST_ERROR, 0).unsigned_abs() as usize,
    };
    layer.index() * SLOTS_PER_LAYER + within
}

/// The slot that counts drops of `cause` in `layer`. A drop counts here *and* as
/// [`Verdict::Unverifiable`].
pub fn drop_slot(layer: Layer, cause: Drop) -> usize {
    layer.index() * SLOTS_PER_LAYER + FIRST_DROP + cause as usize
}

/// The slots of one check of `layer`, and what to add to each: the verdict, the strength of a
/// match, and the flag of an answer.
pub fn slots_of(layer: Layer, judgement: &Judgement) -> [(usize, u64); 5] {
    let Strength {
        frames,
        by_method,
        by_bci,
    } = judgement.strength;
    let [a, b, c] = strength_slots(layer);
    [
        (slot(layer, judgement.verdict), 1),
        (a, frames.into()),
        (b, by_method.into()),
        (c, by_bci.into()),
        (flagged_slot(layer), judgement.is_flagged().into()),
    ]
}

fn flagged_slot(layer: Layer) -> usize {
    layer.index() * SLOTS_PER_LAYER + FLAGGED
}

fn strength_slots(layer: Layer) -> [usize; 3] {
    [0, 1, 2].map(|at| layer.index() * SLOTS_PER_LAYER + FIRST_STRENGTH + at)
}

/// The strength of matches: sums over all matches of a layer.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Frames of the walks.
    pub frames: u64,
    /// Of `frames`, the frames whose method was compared.
    pub by_method: u64,
    /// Of `by_method`, the frames whose BCI was compared too.
    pub by_bci: u64,
}

impl Compared {
    /// The share of frames that were compared by method, from 0 to 1; `None` without frames.
    pub fn method_share(&self) -> Option<f64> {
        self.share(self.by_method)
    }

    /// The share of frames that were compared by method and BCI, from 0 to 1; `None` without
    /// frames.
    pub fn bci_share(&self) -> Option<f64> {
        self.share(self.by_bci)
    }

    fn share(&self, of: u64) -> Option<f64> {
        (self.frames > 0).then(|| of as f64 / self.frames as f64)
    }
}

/// The results of the checks of one layer.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    /// Checks that agreed.
    pub matches: u64,
    /// Checks within a proven window.
    pub window: u64,
    /// Checks that showed inlined frames of a neighbouring debug info record.
    pub imprecise: u64,
    /// Checks without truth, dropped samples included.
    pub unverifiable: u64,
    /// Checks in which the bottom was missing.
    pub truncated: u64,
    /// Checks that showed a false stack.
    pub wrong: u64,
    /// Checks that ended with an error, by code.
    pub error: BTreeMap<i32, u64>,
    /// Of `unverifiable`, the samples that were lost, by cause.
    pub dropped: BTreeMap<Drop, u64>,
    /// Of `unverifiable`, the answers that say of themselves that they may not be whole ([`Judgement::FLAGGED`]).
    pub flagged: u64,
    /// The strength of the matches.
    pub compared: Compared,
}

/// The sum of counts, or the largest number.
fn sum(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// The slots of all layers, from the bytes of the file. A part of a slot at the end does not count.
pub fn slots(bytes: &[u8]) -> Vec<u64> {
    let (slots, _) = bytes.as_chunks();
    slots.iter().map(|&slot| u64::from_le_bytes(slot)).collect()
}

impl Tally {
    /// Reads the tally of `layer` from the [`slots`] of all layers.
    pub fn from_slots(slots: &[u64], layer: Layer) -> Tally {
        let at = |slot: usize| slots.get(slot).copied().unwrap_or(0);
        let of = |verdict| at(slot(layer, verdict));
        let error = (LOWEST_ERROR..=0)
            .map(|code| (code, of(Verdict::Error(code))))
            .filter(|&(_, n)| n > 0)
            .collect();
        let dropped = Drop::ALL
            .into_iter()
            .map(|cause| (cause, at(drop_slot(layer, cause))))
            .filter(|&(_, n)| n > 0)
            .collect();
        let [frames, by_method, by_bci] = strength_slots(layer).map(at);
        Tally {
            matches: of(Verdict::Match),
            window: of(Verdict::Window),
            imprecise: of(Verdict::Imprecise),
            unverifiable: of(Verdict::Unverifiable),
            truncated: of(Verdict::Truncated),
            wrong: of(Verdict::Wrong),
            error,
            dropped,
            flagged: at(flagged_slot(layer)),
            compared: Compared {
                frames,
                by_method,
                by_bci,
            },
        }
    }

    /// Counts a check, and the strength of a match.
    pub fn add(&mut self, judgement: &Judgement) {
        match judgement.verdict {
            Verdict::Match => self.matches += 1,
            Verdict::Window => self.window += 1,
            Verdict::Imprecise => self.imprecise += 1,
            Verdict::Unverifiable => self.unverifiable += 1,
            Verdict::Truncated => self.truncated += 1,
            Verdict::Wrong => self.wrong += 1,
            Verdict::Error(code) => *self.error.entry(code).or_default() += 1,
        }
        self.flagged += u64::from(judgement.is_flagged());
        self.compared.frames += u64::from(judgement.strength.frames);
        self.compared.by_method += u64::from(judgement.strength.by_method);
        self.compared.by_bci += u64::from(judgement.strength.by_bci);
    }

    /// Counts a lost sample, which is also a check without a truth.
    pub fn add_drop(&mut self, cause: Drop) {
        *self.dropped.entry(cause).or_default() += 1;
        self.unverifiable += 1;
    }

    /// All checks, with any verdict. Sums stop at the largest number: a file of slots may be damaged.
    pub fn checks(&self) -> u64 {
        sum([self.decided(), self.unverifiable, self.errors()])
    }

    /// Checks that ended with an error code.
    pub fn errors(&self) -> u64 {
        sum(self.error.values().copied())
    }

    /// Samples that were lost.
    pub fn drops(&self) -> u64 {
        sum(self.dropped.values().copied())
    }

    /// Checks in which a stack was compared with a truth.
    pub fn decided(&self) -> u64 {
        sum([self.matches, self.window, self.imprecise, self.mismatches()])
    }

    /// Stacks that were cut short or false.
    pub fn mismatches(&self) -> u64 {
        sum([self.truncated, self.wrong])
    }

    /// Mismatches among the decided checks; `None` if nothing was decided.
    pub fn mismatch_rate(&self) -> Option<f64> {
        match self.decided() {
            0 => None,
            decided => Some(self.mismatches() as f64 / decided as f64),
        }
    }

    /// Imprecise stacks among the decided checks; `None` if nothing was decided.
    pub fn imprecise_rate(&self) -> Option<f64> {
        match self.decided() {
            0 => None,
            decided => Some(self.imprecise as f64 / decided as f64),
        }
    }

    /// The upper 95 % bound of [`Tally::mismatch_rate`].
    pub fn mismatch_upper95(&self) -> Option<f64> {
        bound::upper95(self.mismatches(), self.decided())
    }
}

impl AddAssign<&Tally> for Tally {
    fn add_assign(&mut self, other: &Tally) {
        self.matches += other.matches;
        self.window += other.window;
        self.imprecise += other.imprecise;
        self.unverifiable += other.unverifiable;
        self.truncated += other.truncated;
        self.wrong += other.wrong;
        self.flagged += other.flagged;
        self.compared.frames += other.compared.frames;
        self.compared.by_method += other.compared.by_method;
        self.compared.by_bci += other.compared.by_bci;
        for (&code, n) in &other.error {
            *self.error.entry(code).or_default() += n;
        }
        for (&cause, n) in &other.dropped {
            *self.dropped.entry(cause).or_default() += n;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn verdict() -> impl Strategy<Value = Verdict> {
        prop_oneof![
            Just(Verdict::Match),
            Just(Verdict::Window),
            Just(Verdict::Imprecise),
            Just(Verdict::Unverifiable),
            Just(Verdict::Truncated),
            Just(Verdict::Wrong),
            (LOWEST_ERROR..=0).prop_map(Verdict::Error),
        ]
    }

    proptest! {
        #[test]
        fn every_check_is_counted_once(checks in prop::collection::vec((0..5usize, verdict()), 0..200)) {
            let mut slots = [0; SLOTS];
            for &(layer, verdict) in &checks {
                slots[slot(Layer::ALL[layer], verdict)] += 1;
            }
            for layer in Layer::ALL {
                let mine = checks.iter().filter(|c| c.0 == layer.index());
                let tally = Tally::from_slots(&slots, layer);
                prop_assert_eq!(tally.checks(), mine.clone().count() as u64);
                let wrong = mine.filter(|c| c.1 == Verdict::Wrong).count();
                prop_assert_eq!(tally.wrong, wrong as u64);
            }
        }

        #[test]
        fn tallies_add_up(a in prop::collection::vec(0..1000u64, SLOTS), b in prop::collection::vec(0..1000u64, SLOTS)) {
            let both: Vec<u64> = a.iter().zip(&b).map(|(x, y)| x + y).collect();
            for layer in Layer::ALL {
                let mut sum = Tally::from_slots(&a, layer);
                sum += &Tally::from_slots(&b, layer);
                prop_assert_eq!(sum, Tally::from_slots(&both, layer));
            }
        }
    }

    #[test]
    fn a_match_is_counted_with_its_strength() {
        let strength = Strength::of(80, 9, 2);
        let judgement = Judgement::matching(crate::Reason::SameFrames, strength);
        let mut slots = [0; SLOTS];
        for _ in 0..3 {
            for (slot, n) in slots_of(Layer::Gst, &judgement) {
                slots[slot] += n;
            }
        }
        let tally = Tally::from_slots(&slots, Layer::Gst);
        assert_eq!((tally.matches, tally.checks()), (3, 3));
        let compared = Compared {
            frames: 240,
            by_method: 27,
            by_bci: 6,
        };
        assert_eq!(tally.compared, compared);
        assert_eq!(compared.bci_share(), Some(0.025));
        assert_eq!(Compared::default().method_share(), None);
    }

    #[test]
    fn a_flagged_answer_is_no_imprecise_one() {
        let judgements = [
            Judgement::FLAGGED,
            Judgement::plain(Verdict::Unverifiable, crate::Reason::MethodGone),
        ];
        let (mut slots, mut added) = ([0; SLOTS], Tally::default());
        for judgement in &judgements {
            added.add(judgement);
            for (slot, n) in slots_of(Layer::AsgstAsync, judgement) {
                slots[slot] += n;
            }
        }
        let tally = Tally::from_slots(&slots, Layer::AsgstAsync);
        assert_eq!((tally.unverifiable, tally.flagged), (2, 1));
        assert_eq!(tally, added);
        assert_eq!((tally.decided(), tally.imprecise_rate()), (0, None));
    }

    #[test]
    fn no_checks_have_no_rate() {
        let mut tally = Tally {
            unverifiable: 5,
            ..Tally::default()
        };
        assert_eq!(
            (tally.mismatch_rate(), tally.mismatch_upper95()),
            (None, None)
        );
        tally.matches = 3;
        tally.wrong = 1;
        assert_eq!(tally.mismatch_rate(), Some(0.25));
    }
}
