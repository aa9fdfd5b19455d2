//! The place of the return address of compiled code whose frame is the newest.

use super::library::{Return, is_behind_call};
use super::moved;
use crate::jvm::Jvm;
use crate::jvm::remembered_code::RememberedCode;
use crate::sampling::sample::Interruption;
use hotspot::arch::{Follow, Native, NativeRegisters};
use hotspot::code::CodeMemory;
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

/// The newest frame of generated code.
pub(super) struct Newest {
    /// Where the code is: interrupted, or behind its call of the library that was interrupted.
    pub pc: usize,
    /// Its stack pointer.
    pub sp: usize,
    /// Its general registers, as far as they are known.
    pub general: NativeRegisters,
    /// The link register, if the code was interrupted itself.
    link: Option<usize>,
}

impl Newest {
    fn find(cache: &RememberedCode<'_>, at: &Interruption) -> Option<Newest> {
        let registers = &at.registers;
        if cache.is_code(registers.pc) {
            return Some(Newest {
                pc: registers.pc,
                sp: registers.sp,
                general: at.general,
                link: registers.link,
            });
        }
        let found = Return::find(cache, at.stack_top.stack(), registers.fp)?;
        let sp = found.sp.filter(|_| is_behind_call(found.pc))?;
        let mut general = NativeRegisters::UNKNOWN;
        general.set(Native::SP, Some(sp));
        general.set(Native::FP, Some(found.fp));
        Some(Newest {
            pc: found.pc,
            sp,
            general,
            link: None,
        })
    }
}

/// Looks for the return address of the newest frame of generated code; `None` if this code was not
/// compiled from a method, or if an anchor says that the walk starts elsewhere.
pub(super) fn find(jvm: &Jvm, at: &Interruption) -> Option<Found> {
    let cache = jvm.code_cache().ok()?;
    if !at.seen.is_some_and(|seen| seen.is_without_pc()) {
        return None;
    }
    let newest = Newest::find(&RememberedCode::new(cache), at)?;
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
