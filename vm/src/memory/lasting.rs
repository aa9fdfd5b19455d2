//! Memory that stays mapped while a walk runs. Reads there cannot fault.

use std::cell::Cell;
use std::ops::Range;

/// The description of the calling thread by the VM, the thread's stack, and the interpreter.
const MOST: usize = 3;

/// Reads have up to so many bytes.
const WIDEST: usize = 16;

/// Ranges of such memory.
pub struct Lasting([Cell<Piece>; MOST]);

#[derive(Copy, Clone)]
struct Piece {
    start: usize,
    /// How many addresses have the widest read behind them.
    count: usize,
}

impl Lasting {
    /// No memory.
    #[inline]
    pub fn nothing() -> Lasting {
        const NOTHING: Piece = Piece { start: 0, count: 0 };
        Lasting([const { Cell::new(NOTHING) }; MOST])
    }

    /// `range` stays mapped, too. If there are too many ranges it is forgotten, which is safe.
    #[inline]
    pub fn add(&self, range: Range<usize>) {
        let free = self.0.iter().find(|piece| piece.get().count == 0);
        if let Some(free) = free {
            let length = range.end.saturating_sub(range.start);
            free.set(Piece {
                start: range.start,
                count: (length + 1).saturating_sub(WIDEST),
            });
        }
    }

    /// From now on all memory counts.
    pub fn is_everything(&self) {
        self.0[0].set(Piece {
            start: 0,
            count: usize::MAX,
        });
    }

    /// Whether the bytes from `address` on stay mapped that one read may read. Without a branch for each range: a
    /// walk reads here and there, which a processor cannot foresee.
    #[inline]
    pub fn has(&self, address: usize) -> bool {
        self.0.iter().fold(false, |has, piece| {
            let Piece { start, count } = piece.get();
            has | (address.wrapping_sub(start) < count)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_leaves_a_range_does_not_last() {
        let lasting = Lasting::nothing();
        assert!(!lasting.has(0));
        lasting.add(0x1000..0x1020);
        // Nothing is no range.
        lasting.add(0x3000..0x3000);
        for (address, lasts) in [
            (0x0fff, false),
            (0x1000, true),
            (0x1010, true),
            (0x1011, false),
            (0x1020, false),
            (0x3000, false),
            (usize::MAX, false),
        ] {
            assert_eq!(lasting.has(address), lasts, "{address:#x}");
        }
        // More ranges than there is room for are forgotten.
        lasting.add(0x4000..0x4010);
        lasting.add(0x6000..0x6010);
        lasting.add(0x5000..0x5010);
        assert!(lasting.has(0x4000));
        assert!(!lasting.has(0x5000));
        lasting.is_everything();
        assert!(lasting.has(0x5000) && lasting.has(8));
    }
}
