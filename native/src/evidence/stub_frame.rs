//! Where the return address of a stub is, shown by the stub's own code.

use super::kept::Kept;
use super::library::is_behind_call;
use crate::jvm::remembered_code::RememberedCode;
use crate::sampling::sample::Interruption;
use hotspot::arch::{Calls, Follow, Landings, Native};
use hotspot::code::{Blob, CodeMemory};
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
    let callers = Callers {
        cache,
        thrown_from: at.general.get(Native::THROWN_FROM),
    };
    let exit = Native::exit(
        &memory,
        registers.pc,
        &at.general,
        STEPS,
        Calls::Return,
        &callers,
    )?;
    if !cache.is_code(exit.pc) {
        return None;
    }
    let words = exit.sp.checked_sub(registers.sp)? / WORD;
    Some(ReturnAddress::of_frame(frame_words, words))
}

/// The code to which stubs return.
struct Callers<'a> {
    cache: &'a RememberedCode<'a>,
    /// The return address of the callee that threw, if the stub handles an exception.
    thrown_from: Option<usize>,
}

impl Landings for Callers<'_> {
    fn is_return(&self, word: usize) -> bool {
        self.cache.is_code(word) && is_behind_call(word)
    }

    fn is_behind_own_call(&self, _: usize) -> bool {
        false
    }

    fn returns_to(&self, word: usize) -> bool {
        self.is_return(word)
    }

    // The stub pops the address into this register, and then reads it from the thread anew, which is not among the words.
    fn origin(&self) -> Option<usize> {
        self.thrown_from
    }

    // The stub gives back its frame with the return address on it before it jumps to the handler. That is code of the caller
    // (`OptoRuntime::generate_exception_blob`).
    fn goes_on_at(&self, pc: usize, origin: usize) -> bool {
        let code = |pc| self.cache.blob(pc).map(|blob| blob.start);
        self.is_return(origin) && code(pc) == code(origin)
    }
}
