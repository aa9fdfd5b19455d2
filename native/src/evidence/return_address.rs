//! The place of the return address of compiled code or of a stub whose frame is the newest.

use super::moved;
use super::newest::Newest;
use super::stub_frame;
use crate::jvm::Jvm;
use crate::jvm::remembered_code::RememberedCode;
use crate::sampling::sample::Interruption;
use hotspot::arch::Native;
use hotspot::code::{CodeKind, CodeMemory};
use hotspot::return_address::{ReturnAddress, Word};

/// The place of a return address.
#[derive(Copy, Clone)]
pub struct Found {
    /// The place.
    pub place: ReturnAddress,
    /// The size of the code's frame in words.
    pub frame_words: usize,
    /// So many words of the stack are below the stack pointer of the code.
    pub below: usize,
}

/// Looks for the return address of the newest frame of generated code; `None` if this code was not compiled from a method, and
/// is no stub that runs, or if an anchor says that the walk starts elsewhere.
pub(super) fn find(jvm: &Jvm, cache: &RememberedCode<'_>, at: &Interruption) -> Option<Found> {
    if !at.seen.is_some_and(|seen| seen.is_without_pc()) {
        return None;
    }
    let running = cache.blob(at.registers.pc);
    if let Some(stub) = running.filter(|code| code.kind() == CodeKind::Stub) {
        let frame_words = cache.frame_words(stub.start)?;
        return Some(Found {
            place: stub_frame::find(cache, at, &stub, frame_words)?,
            frame_words,
            below: 0,
        });
    }
    let newest = Newest::find(cache, at)?;
    let code = cache.blob(newest.pc)?;
    if !code.is_nmethod() {
        return None;
    }
    let frame_words = cache.frame_words(code.start)?;
    let look_at = |word: Option<usize>| {
        let found = word.map(|word| Word::of::<Native>(word, &code, cache));
        found.unwrap_or(Word::Unknown)
    };
    let link = look_at(newest.link);
    let below = newest.sp.checked_sub(at.registers.sp)? / size_of::<usize>();
    let word = |word| look_at(at.stack_top.word(below + word));
    let usual = frame_words.checked_sub(1)?;
    // Old calls of the same method leave words that fit, too. So the code says where the return address is, if it can.
    let stack = at.stack_top.stack();
    let moved = moved::by_words(jvm, stack, &newest, &code, frame_words);
    let place = match moved.filter(|&moved| word(usual + moved) != Word::OfOther) {
        Some(moved) => ReturnAddress::Beyond(moved),
        None => ReturnAddress::find::<Native>(frame_words, link, word),
    };
    Some(Found {
        place,
        frame_words,
        below,
    })
}
