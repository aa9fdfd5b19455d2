//! The choice of mismatches that are kept: a uniform sample of each kind, drawn as they come
//! (Vitter, "Random Sampling with a Reservoir", algorithm R).

use super::kinds::MismatchKind;
use crate::locks::lock;
use oracle::random::mix;
use std::collections::HashMap;
use std::sync::Mutex;

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
