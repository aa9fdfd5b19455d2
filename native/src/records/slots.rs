//! The counts, in a file that the runner can map or read too (see [`oracle::tally`]).

use crate::jvm::os::memory;
use oracle::tally::{self, Drop, SLOTS};
use oracle::{Judgement, Layer, Verdict};
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The slots of all layers, in shared memory: the counts survive the program.
pub struct Slots(&'static [AtomicU64; SLOTS]);

impl Slots {
    /// Maps the file at `path`, which is made or enlarged as needed.
    pub fn map(path: &Path) -> io::Result<Slots> {
        memory::map_shared(path).map(Slots)
    }

    /// Counts one check.
    pub fn count(&self, layer: Layer, verdict: Verdict) {
        self.add(layer, verdict, 1);
    }

    /// Counts a check, and the strength of a match.
    pub fn judged(&self, layer: Layer, judgement: &Judgement) {
        for (slot, n) in tally::slots_of(layer, judgement) {
            self.0[slot].fetch_add(n, Relaxed);
        }
    }

    /// Counts `n` checks.
    pub fn add(&self, layer: Layer, verdict: Verdict, n: u64) {
        self.0[tally::slot(layer, verdict)].fetch_add(n, Relaxed);
    }

    /// Adds to slots. Async-signal-safe.
    pub fn add_all(&self, slots: impl IntoIterator<Item = (usize, u64)>) {
        for (slot, n) in slots {
            self.0[slot].fetch_add(n, Relaxed);
        }
    }

    /// Counts a lost sample, which is also a check without a truth.
    pub fn drop(&self, layer: Layer, cause: Drop) {
        self.0[tally::drop_slot(layer, cause)].fetch_add(1, Relaxed);
        self.count(layer, Verdict::Unverifiable);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::tally::Tally;

    #[test]
    fn counts_are_in_the_file() {
        let path = std::env::temp_dir().join(format!("stackwitness-slots-{}", std::process::id()));
        let slots = Slots::map(&path).expect("the temporary folder is writable");
        slots.add(Layer::Gst, Verdict::Match, 41);
        slots.count(Layer::Gst, Verdict::Match);
        slots.drop(Layer::AsgctAsync, Drop::TooDeep);
        let bytes = std::fs::read(&path).expect("it was just made");
        std::fs::remove_file(&path).expect("it was just read");
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")))
            .collect();
        assert_eq!(Tally::from_slots(&words, Layer::Gst).matches, 42);
        let dropped = Tally::from_slots(&words, Layer::AsgctAsync);
        assert_eq!((dropped.drops(), dropped.unverifiable), (1, 1));
    }
}
