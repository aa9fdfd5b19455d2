//! Frames of compiled code that are larger than the code says.
//!
//! C2 passes the fields of a value object in place of the object (JEP 401). If they need more room than the caller has left
//! for arguments, the callee makes room in its own frame.

use crate::layout::code_cache::{Blob, Kind};
use crate::walk::Walk;
use hotspot::arch::{Arch, Native};
use hotspot::memory::Memory;

const WORD: usize = size_of::<usize>();

/// No frame has as many words.
const MOST_WORDS: usize = 1_000_000;

/// The return address, and the saved frame pointer.
const LINKS: usize = 2;

impl Walk<'_> {
    /// The size of the frame of `blob` at the stack pointer `sp` in words, the return address included; `None` if its frames have
    /// no size, or several.
    pub(super) fn frame_words(&self, blob: &Blob, sp: usize) -> Option<usize> {
        let usual = blob.frame_words?;
        if self.keeps_frame_size(blob, sp) {
            self.kept_frame_words(usual, sp)
        } else {
            Some(usual)
        }
    }

    /// The size that the frame at `sp` keeps, in words, the return address included. `usual` is the size that the code says.
    #[inline]
    pub(super) fn kept_frame_words(&self, usual: usize, sp: usize) -> Option<usize> {
        // `frame::repair_sender_sp`: the size lies just below the saved frame pointer of a frame that is not extended. It is in
        // bytes, and counts neither this pointer nor the return address.
        let at = usual.checked_sub(LINKS + 1)?;
        let size = self.memory.word(sp.wrapping_add(at * WORD))?;
        let words = size / WORD + LINKS;
        let is_size = size.is_multiple_of(WORD) && (usual..MOST_WORDS).contains(&words);
        is_size.then_some(words)
    }

    /// Whether frames of `blob` keep their size, one of which is at `sp`.
    pub(super) fn keeps_frame_size(&self, blob: &Blob, sp: usize) -> bool {
        /// Code is read in parts. A part has some bytes of the next one, so that no instructions are cut in two.
        const PART: usize = 8;
        const OVERLAP: usize = 2;
        let may = self.vm.code_cache.nmethods().extends_frames()
            && matches!(blob.kind, Kind::Compiled(_));
        let usual = blob.frame_words.filter(|_| may);
        // Each frame of such code has its size at this place. Nearly all other frames have something else.
        let Some(usual) = usual.filter(|&usual| self.kept_frame_words(usual, sp).is_some()) else {
            return false;
        };
        // The code adds the word to its stack pointer when it returns.
        let at = (usual - LINKS - 1) * WORD;
        let mut parts = (blob.code..blob.end).step_by(PART * WORD);
        parts.any(|start| {
            let mut bytes = [0; (PART + OVERLAP) * WORD];
            for (word, place) in bytes.as_chunks_mut::<WORD>().0.iter_mut().zip(0..) {
                let address = start.wrapping_add(place * WORD);
                *word = self.memory.word(address).unwrap_or(0).to_ne_bytes();
            }
            Native::frame_size_word(&bytes) == Some(at)
        })
    }
}
