//! Counts of mismatches by kind, and the choice of those that are kept: a uniform sample of each kind, drawn as they come
//! (Vitter, "Random Sampling with a Reservoir", algorithm R).

use crate::locks::lock;
use crate::records::instants::MismatchKind;
use oracle::random::mix;
use oracle::record::{CauseName, KindCount};
use std::collections::HashMap;
use std::sync::Mutex;

/// How many places of one layer, verdict and cause are counted separately, so that frequent causes
/// leave room for the places of rare causes.
const PLACES: usize = 256;

/// The counts. Any thread may count, but no signal handler.
#[derive(Default)]
pub struct Kinds(Mutex<HashMap<MismatchKind, HashMap<String, Count>>>);

#[derive(Default)]
struct Count {
    seen: u64,
    /// The number of counts that were written.
    written: u64,
}

impl Kinds {
    /// Counts one mismatch.
    pub fn add(&self, kind: MismatchKind, place: &str) {
        let mut counts = lock(&self.0);
        let of_kind = counts.entry(kind).or_default();
        if let Some(count) = of_kind.get_mut(place) {
            count.seen += 1;
            return;
        }
        // Causes are few, so only the number of places is bounded.
        let is_full = of_kind.len() >= PLACES;
        let place = if is_full { KindCount::OTHER } else { place };
        of_kind.entry(place.into()).or_default().seen += 1;
    }

    /// The counts that have changed since the last call.
    pub fn take_changed(&self) -> Vec<KindCount> {
        let mut counts = lock(&self.0);
        let mut changed = vec![];
        for (&(layer, verdict, cause), places) in &mut *counts {
            for (place, count) in places.iter_mut().filter(|(_, c)| c.seen > c.written) {
                count.written = count.seen;
                changed.push(KindCount {
                    layer,
                    verdict,
                    cause: cause.map(CauseName::new),
                    place: place.clone(),
                    count: count.seen,
                });
            }
        }
        changed.sort_by(|a, b| (a.layer, &a.cause, &a.place).cmp(&(b.layer, &b.cause, &b.place)));
        changed
    }
}

/// A reservoir of each layer, verdict and cause.
pub struct Reservoirs {
    /// The size of each reservoir.
    size: u32,
    seed: u64,
    /// How many mismatches of each kind came.
    came: Mutex<HashMap<MismatchKind, u64>>,
}

impl Reservoirs {
    /// Empty reservoirs. `seed` decides all choices.
    pub fn new(size: u32, seed: u64) -> Reservoirs {
        Reservoirs {
            size,
            seed,
            came: Mutex::default(),
        }
    }

    /// The index of another mismatch in the reservoir of its kind, where it replaces an older
    /// mismatch; `None` if the mismatch is not kept.
    pub fn place(&self, kind: MismatchKind) -> Option<u32> {
        let mut came = lock(&self.came);
        let number = came.entry(kind).or_default();
        let before = *number;
        *number += 1;
        let drawn = if before < u64::from(self.size) {
            before
        } else {
            mix(self.seed ^ mix(before)) % (before + 1)
        };
        u32::try_from(drawn).ok().filter(|&place| place < self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::{Layer, Verdict};

    const TOLD: MismatchKind = (Layer::AsgctAsync, Verdict::Wrong, Some("leaf-call"));

    fn places(kinds: &Kinds) -> Vec<(String, u64)> {
        let changed = kinds.take_changed().into_iter();
        changed.map(|kind| (kind.place, kind.count)).collect()
    }

    #[test]
    fn only_what_changed_is_written_again() {
        let kinds = Kinds::default();
        for place in ["A.a", "A.b", "A.a"] {
            kinds.add(TOLD, place);
        }
        assert_eq!(places(&kinds), [("A.a".into(), 2), ("A.b".into(), 1)]);
        assert_eq!(places(&kinds), []);
        kinds.add(TOLD, "A.b");
        assert_eq!(places(&kinds), [("A.b".into(), 2)]);
    }

    #[test]
    fn places_are_bounded_and_no_mismatch_is_lost() {
        let kinds = Kinds::default();
        for number in 0..2 * PLACES {
            kinds.add(TOLD, &number.to_string());
        }
        let other_layer = (Layer::Gst, Verdict::Wrong, None);
        kinds.add(other_layer, "A.a");
        let changed = kinds.take_changed();
        assert_eq!(changed.len(), PLACES + 2);
        assert_eq!(
            changed.iter().map(|kind| kind.count).sum::<u64>(),
            2 * PLACES as u64 + 1
        );
        let other = |kind: &&KindCount| kind.place == KindCount::OTHER;
        let other = changed.iter().find(other).expect("there are too many");
        assert_eq!(other.count, PLACES as u64);
    }

    const KIND: MismatchKind = (Layer::AsgctAsync, Verdict::Wrong, Some("leaf-call"));

    /// The numbers of the mismatches that are kept out of `of`, and how many were written.
    fn kept(size: u32, seed: u64, of: u64) -> (Vec<u64>, u64) {
        let reservoirs = Reservoirs::new(size, seed);
        let (mut kept, mut written) = (vec![0; size as usize], 0);
        for number in 0..of {
            if let Some(place) = reservoirs.place(KIND) {
                kept[place as usize] = number;
                written += 1;
            }
        }
        (kept, written)
    }

    #[test]
    fn each_mismatch_is_kept_as_often() {
        const OF: u64 = 10_000;
        let all = (0..400).flat_map(|seed| kept(10, seed, OF).0);
        let mut tenths = [0; 10];
        for number in all {
            tenths[(number * 10 / OF) as usize] += 1;
        }
        // 400 in each tenth, with a standard deviation of 19.
        assert!(
            tenths.iter().all(|&n| (300..500).contains(&n)),
            "{tenths:?}"
        );
    }

    #[test]
    fn few_are_written_and_the_seed_decides() {
        let (first, written) = kept(50, 7, 1_000_000);
        // 50 (1 + ln(1,000,000 / 50)) = 545 on average.
        assert!((400..700).contains(&written), "{written}");
        assert_eq!(kept(50, 7, 1_000_000).0, first);
        assert_ne!(kept(50, 8, 1_000_000).0, first);
        assert_eq!(kept(50, 7, 50).0, (0..50).collect::<Vec<_>>());
        assert_eq!(kept(0, 7, 50).1, 0);
    }

    #[test]
    fn kinds_do_not_share_a_reservoir() {
        let reservoirs = Reservoirs::new(1, 1);
        let other = (Layer::Gst, Verdict::Wrong, None);
        assert_eq!(reservoirs.place(KIND), Some(0));
        assert_eq!(reservoirs.place(other), Some(0));
    }
}
