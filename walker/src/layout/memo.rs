//! What walks have learned, for later walks.
//!
//! A handler may read while another thread writes, and may interrupt a thread that writes. So nobody waits: a row that
//! is being written has nothing for a reader, and is not written by another. What is read may be outdated, and its
//! reader must check it.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicUsize, fence};

/// Rows of `WORDS` words. The first word of a row is its key. Each key has one place, and the newest key has the row.
pub struct Memo<const WORDS: usize> {
    rows: Box<[Row<WORDS>]>,
}

/// A row. All rows are in lines of the processor's cache of their own.
#[repr(align(64))]
struct Row<const WORDS: usize> {
    /// Odd while the row is written.
    version: AtomicUsize,
    words: [AtomicUsize; WORDS],
}

const ROWS_LOG2: u32 = 12;

impl<const WORDS: usize> Default for Memo<WORDS> {
    /// Empty. Not to be called in a handler.
    fn default() -> Memo<WORDS> {
        let row = || Row {
            version: AtomicUsize::new(0),
            words: std::array::from_fn(|_| AtomicUsize::new(0)),
        };
        Memo {
            rows: (0..1 << ROWS_LOG2).map(|_| row()).collect(),
        }
    }
}

impl<const WORDS: usize> Memo<WORDS> {
    /// The row of `key`; `None` for 0.
    #[inline]
    pub fn get(&self, key: usize) -> Option<[usize; WORDS]> {
        let row = self.row(key);
        let version = row.version.load(Acquire);
        let words: [usize; WORDS] = std::array::from_fn(|at| row.words[at].load(Relaxed));
        fence(Acquire);
        let is_whole = version & 1 == 0 && row.version.load(Relaxed) == version;
        (is_whole && key != 0 && words[0] == key).then_some(words)
    }

    /// Keeps the row, whose first word is its key, if nobody writes there.
    pub fn put(&self, words: [usize; WORDS]) {
        let row = self.row(words[0]);
        let version = row.version.load(Relaxed);
        let is_free = version & 1 == 0
            && row
                .version
                .compare_exchange(version, version.wrapping_add(1), Acquire, Relaxed)
                .is_ok();
        if is_free {
            fence(Release);
            for (place, word) in row.words.iter().zip(words) {
                place.store(word, Relaxed);
            }
            row.version.store(version.wrapping_add(2), Release);
        }
    }

    #[inline]
    fn row(&self, key: usize) -> &Row<WORDS> {
        /// 2 to the 64th, divided by the golden ratio: spreads keys that are near each other.
        const SPREAD: usize = 0x9e37_79b9_7f4a_7c15;
        let place = key.wrapping_mul(SPREAD) >> (usize::BITS - ROWS_LOG2);
        // The place has so many bits.
        &self.rows[place & (self.rows.len() - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_that_of_its_key_or_nothing() {
        let memo = Memo::<3>::default();
        assert_eq!(memo.get(8), None);
        memo.put([8, 1, 2]);
        assert_eq!(memo.get(8), Some([8, 1, 2]));
        memo.put([8, 3, 4]);
        assert_eq!(memo.get(8), Some([8, 3, 4]));
        // More keys than rows: some lose their rows, and none gets that of another.
        for key in 1..20_000 {
            memo.put([key, !key, key]);
        }
        let kept = (1..20_000).filter_map(|key| Some((key, memo.get(key)?)));
        assert!(
            kept.inspect(|&(key, row)| assert_eq!(row, [key, !key, key]))
                .count()
                > 1_000
        );
    }

    #[test]
    fn a_reader_never_sees_parts_of_two_writes() {
        let memo = Memo::<3>::default();
        std::thread::scope(|scope| {
            for writer in 1..3 {
                let memo = &memo;
                scope.spawn(move || {
                    (0..200_000_usize).for_each(|at| memo.put([7, at * writer, !(at * writer)]));
                });
            }
            let rows = (0..200_000).filter_map(|_| memo.get(7));
            rows.for_each(|[_, one, other]| assert_eq!(one, !other));
        });
    }
}
