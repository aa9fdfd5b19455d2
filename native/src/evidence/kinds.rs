//! Counts of mismatches by kind.

use crate::locks::lock;
use oracle::record::{CauseName, KindCount};
use oracle::{Layer, Verdict};
use std::collections::HashMap;
use std::sync::Mutex;

/// How many places of one layer, verdict and cause are counted separately, so that frequent causes
/// leave room for the places of rare causes.
const PLACES: usize = 256;

/// The key of mismatches without their place. The cause is `None` if no cause is looked for.
pub type MismatchKind = (Layer, Verdict, Option<&'static str>);

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
