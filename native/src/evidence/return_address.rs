//! The place of the return address of interrupted compiled code.

use super::moved;
use crate::jvm::Jvm;
use crate::sampling::sample::Interruption;
use hotspot::arch::Native;
use hotspot::code::CodeMemory;
use hotspot::return_address::{ReturnAddress, Word};

/// The place of a return address.
#[derive(Copy, Clone)]
pub struct Found {
    /// The place.
    pub place: ReturnAddress,
    /// The size of the code's frame in words.
    pub frame_words: usize,
}

/// Looks for the return address of the code that was interrupted; `None` if this code was not
/// compiled from a method, or if an anchor says that the walk starts elsewhere.
pub(super) fn find(jvm: &Jvm, at: &Interruption) -> Option<Found> {
    let cache = jvm.code_cache().ok()?;
    if !at.seen.is_some_and(|seen| seen.is_without_pc()) {
        return None;
    }
    let code = cache.blob(at.registers.pc)?;
    if !code.is_nmethod() {
        return None;
    }
    let frame_words = cache.frame_words(code.start)?;
    let look_at = |word: Option<usize>| {
        let found = word.map(|word| Word::of::<Native>(word, &code, cache));
        found.unwrap_or(Word::Unknown)
    };
    let link = look_at(at.registers.link);
    let word = |word| look_at(at.stack_top.word(word));
    let usual = frame_words.checked_sub(1)?;
    // Old calls of the same method leave words that fit, too. So the code says where the return address is, if it can.
    let moved = moved::by_words(jvm, at, &code);
    let place = match moved.filter(|&moved| word(usual + moved) != Word::OfOther) {
        Some(moved) => ReturnAddress::Beyond(moved),
        None => ReturnAddress::find::<Native>(frame_words, link, word),
    };
    Some(Found { place, frame_words })
}
