//! Finds where the return address of interrupted compiled code is.

use crate::agent::Agent;
use crate::jvm::code_cache::{Blob, CodeCache};
use crate::jvm::os::peek::peek_bytes;
use crate::sampling::sample::Sample;
use hotspot::return_address::{ReturnAddress, Word};

/// What was found.
#[derive(Copy, Clone)]
pub struct Found {
    /// Where it is.
    pub place: ReturnAddress,
    /// The size of the code's frame in words.
    pub frame_words: usize,
}

/// Looks for the return address of the code that `sample` interrupted; `None` if that is not
/// compiled from a method, or an anchor says that the walk starts elsewhere.
pub fn find(agent: &Agent, sample: &Sample) -> Option<Found> {
    let cache = agent.code_cache.as_ref()?;
    if !sample.anchor.is_some_and(|anchor| anchor.is_without_pc()) {
        return None;
    }
    let code = cache.blob(sample.registers[0])?;
    if !code.is_compiled() && !code.is_native_wrapper() {
        return None;
    }
    let frame_words = cache.frame_words(&code)?;
    let word = |at| match sample.stack_top.word(at) {
        Some(word) => look_at(cache, word, &code),
        None => Word::Unknown,
    };
    Some(Found {
        place: ReturnAddress::find(frame_words, word),
        frame_words,
    })
}

/// What `word` would be as the return address of `code`.
fn look_at(cache: &CodeCache, word: usize, code: &Blob) -> Word {
    let Some(caller) = cache.blob(word) else {
        return Word::OfOther;
    };
    if caller.is_native_wrapper() {
        // It calls the native function and the VM, never compiled code.
        return Word::OfOther;
    }
    let called = called_before(word).and_then(|called| cache.blob(called));
    match called {
        Some(called) if caller.is_compiled() => match called.start == code.start {
            true => Word::Fits,
            false if is_of_other_method(&called, code) => Word::OfOther,
            false => Word::Unknown,
        },
        _ => Word::Unknown,
    }
}

/// Whether a call of `called` cannot have led to `code`: both are of methods, not of the same one,
/// which other code may be of too, and the first is no wrapper that goes on to others
/// (`MethodHandle.linkToStatic` and the like).
fn is_of_other_method(called: &Blob, code: &Blob) -> bool {
    match (&called.method, &code.method) {
        (Some(called), Some(code)) => {
            called != code && !called.starts_with("java.lang.invoke.MethodHandle.")
        }
        _ => false,
    }
}

/// Where the call that ends at `address` leads to, if it is one of compiled code: those have the
/// distance in their last four bytes (`NativeCall`).
#[cfg(target_arch = "x86_64")]
fn called_before(address: usize) -> Option<usize> {
    const CALL: u8 = 0xe8;
    const SIZE: usize = 5;
    let bytes = peek_bytes(address.checked_sub(SIZE)?, SIZE);
    let (&CALL, distance) = bytes.split_first()? else {
        return None;
    };
    let distance = i32::from_le_bytes(distance.try_into().ok()?);
    Some(address.wrapping_add_signed(distance as isize))
}

/// Where the call that ends at `address` leads to: how calls look here was not tried yet.
#[cfg(not(target_arch = "x86_64"))]
fn called_before(_: usize) -> Option<usize> {
    None
}
