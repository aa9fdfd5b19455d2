//! The instructions that threads have visited, and the methods that they have run to their ends, each passed on once.
//!
//! An instant may be left unjudged. Its instruction was visited all the same.

use hotspot::steps::Piece;
use hotspot::steps::shadow::mixed;
use vm::ring::{Reader, Writer, ring};

/// Room for so many visits: a power of two.
const PLACES: usize = 1 << 22;

/// So many places are tried for a visit.
const TRIES: usize = 16;

/// So many visits wait to be noted at most.
const WAITING: usize = 1 << 16;

/// What a thread did in a piece of code.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Visit {
    /// It ran the instruction at this address.
    At(Piece, usize),
    /// It ran the method from its call to its return.
    Ended(Piece),
}

/// The end that threads write.
pub struct Visits {
    /// The numbers of the visits that were passed on; 0 where there is none.
    known: Box<[u64]>,
    writer: Writer<Visit>,
}

/// Nothing was visited yet.
pub fn visits() -> (Visits, Reader<Visit>) {
    let none = Visit::Ended(Piece::default());
    let (writer, reader) = ring(vec![none; WAITING]);
    let known = vec![0; PLACES].into_boxed_slice();
    (Visits { known, writer }, reader)
}

impl Visits {
    /// Passes `visit` on, if it is new. Without room it stays new. Async-signal-safe.
    pub fn note(&mut self, visit: Visit) {
        let (piece, rest) = match visit {
            Visit::At(piece, pc) => (piece, pc),
            Visit::Ended(piece) => (piece, 0),
        };
        let words = [piece.blob, piece.id as usize, rest];
        let number = words.iter().fold(0, |hash, &word| mixed(hash, word as u64)) | 1;
        for step in 0..TRIES {
            let place = &mut self.known[(number as usize >> 1).wrapping_add(step) & (PLACES - 1)];
            if *place == number {
                return;
            }
            if *place == 0 {
                if self.writer.pass(|waiting| *waiting = visit) {
                    *place = number;
                }
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_visit_is_passed_on_once() {
        let (mut visits, mut reader) = visits();
        let piece = |id| Piece { blob: 0x1000, id };
        let all = [
            Visit::At(piece(1), 0x1010),
            Visit::At(piece(2), 0x1010),
            Visit::Ended(piece(1)),
        ];
        for visit in [all, all].concat() {
            visits.note(visit);
        }
        let passed = std::iter::from_fn(|| reader.next(|visit| *visit));
        assert_eq!(passed.collect::<Vec<_>>(), all);
    }
}
