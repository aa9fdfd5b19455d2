//! Where the return address of a stub is, shown by the stub's own code.

use super::kept::Kept;
use super::library::is_behind_call;
use crate::jvm::remembered_code::RememberedCode;
use crate::sampling::sample::Interruption;
use hotspot::arch::{Calls, Follow, Landings, Native};
use hotspot::code::Blob;
use hotspot::return_address::ReturnAddress;
use vm::memory::pages::Pages;

const WORD: usize = size_of::<usize>();

/// So many instructions are followed at most. A stub that restores all registers has some 100.
const STEPS: usize = 1024;

/// Looks for the return address of `stub`, which was interrupted and has frames of `frame_words` words. `None` if its code does
/// not lead to a caller.
pub(super) fn find(
    cache: &RememberedCode<'_>,
    at: &Interruption,
    stub: &Blob,
    frame_words: usize,
) -> Option<ReturnAddress> {
    // A stub saves and restores all registers step by step: the room for vectors, that for the general registers, the flags, the
    // frame pointer, and then it jumps to the method that a call means (`RegisterSaver::restore_live_registers` behind
    // `SharedRuntime::generate_resolve_blob`). One to which code jumps saves its own return address first
    // (`OptoRuntime::generate_exception_blob`). The walker adds the whole size of the frame at each of these instructions.
    let pages = &Pages::default();
    let memory = Kept {
        stack: at.stack_top.stack(),
        code: cache.code_of(stub.start)?,
        pages,
    };
    let registers = &at.registers;
    let exit = Native::exit(
        &memory,
        registers.pc,
        &at.general,
        STEPS,
        Calls::Return,
        &Callers(cache),
    )?;
    if !cache.is_code(exit.pc) {
        return None;
    }
    let words = exit.sp.checked_sub(registers.sp)? / WORD;
    Some(ReturnAddress::of_frame(frame_words, words))
}

/// The code to which stubs return.
struct Callers<'a>(&'a RememberedCode<'a>);

impl Landings for Callers<'_> {
    fn is_return(&self, word: usize) -> bool {
        self.0.is_code(word) && is_behind_call(word)
    }

    fn is_behind_own_call(&self, _: usize) -> bool {
        false
    }

    fn returns_to(&self, word: usize) -> bool {
        self.is_return(word)
    }

    // Where the exception came from, the stub has pushed; its handler says nothing more of the frame.
    fn origin(&self) -> Option<usize> {
        None
    }

    fn goes_on_at(&self, _: usize, _: usize) -> bool {
        false
    }
}
