//! Finds the place of the return address of interrupted compiled code.

use crate::jvm::Jvm;
use crate::sampling::sample::Sample;
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

/// Looks for the return address of the code that `sample` interrupted; `None` if this code was not
/// compiled from a method, or if an anchor says that the walk starts elsewhere.
pub fn find(jvm: &Jvm, sample: &Sample) -> Option<Found> {
    let cache = jvm.code_cache().ok()?;
    if !sample.seen.is_some_and(|seen| seen.is_without_pc()) {
        return None;
    }
    let code = cache.blob(sample.registers.pc)?;
    if !code.is_nmethod() {
        return None;
    }
    let frame_words = cache.frame_words(code.start)?;
    let look_at = |word: Option<usize>| {
        let found = word.map(|word| Word::of::<Native>(word, &code, cache));
        found.unwrap_or(Word::Unknown)
    };
    let link = look_at(sample.registers.link);
    let place =
        ReturnAddress::find::<Native>(frame_words, link, |at| look_at(sample.stack_top.word(at)));
    Some(Found { place, frame_words })
}
