//! Where the VM's anchor of a thread leads to, also where it has no program counter.

use crate::jvm::Jvm;
use crate::jvm::code_cache::CodeCache;
use crate::sampling::sample::Interruption;
use hotspot::code::{CodeKind, CodeMemory};
use hotspot::layout::entry::Words;
use vm::memory::kernel::OwnMemory;

const WORD: usize = size_of::<usize>();

/// The program counter of the thread's anchor.
///
/// A stub that calls the VM sets the stack pointer of the anchor alone (`SharedRuntime::generate_resolve_blob`):
///
/// ```text
/// set_last_Java_frame(noreg, noreg, NULL)   // the sp, and no pc
/// call resolve_static_call_C                // pushes the pc below that sp
/// ```
///
/// The VM itself takes the pushed word when it needs the pc (`JavaFrameAnchor::make_walkable`), which is only where the
/// thread changes its state. Before and after that the thread counts as in Java, and runs C++ code: a few instructions in a
/// product build, and all assertions around the change in a debug build.
pub fn anchored(cache: &CodeCache, at: &Interruption) -> Option<usize> {
    let last = at.seen?.last;
    if last.pc != 0 {
        return Some(last.pc);
    }
    let runs_library = last.sp != 0 && cache.blob(at.registers.pc).is_none();
    let pushed = || at.stack_top.stack().at(last.sp.checked_sub(WORD)?);
    let is_stub = |pc: &usize| {
        let blob = cache.blob(*pc);
        blob.is_some_and(|blob| blob.kind() == CodeKind::Stub)
    };
    runs_library.then(pushed)?.filter(is_stub)
}

/// The program counter of the stub that runs or has called the VM, if there is a stub, and the words of the stack from its
/// frame on.
///
/// A method that the VM has called for a stub may have returned to the VM's stub of calls, and no farther: there the walker
/// starts at the anchor that this JavaCalls entry has kept.
pub fn in_stub<'a>(jvm: &Jvm, cache: &CodeCache, at: &'a Interruption) -> (usize, Words<'a>) {
    let stack = at.stack_top.stack();
    let runs = (at.registers.pc, stack);
    let returned = || {
        let calls = jvm.java_calls.as_ref().ok()?;
        let entry = calls.returned(&OwnMemory, stack, at.registers.pc, at.registers.fp)?;
        Some((entry.caller(stack)?, entry.anchor.sp))
    };
    let anchored = anchored(cache, at).zip(at.seen.map(|seen| seen.last.sp));
    let Some((pc, sp)) = anchored.or_else(returned) else {
        return runs;
    };
    let start = sp.max(stack.start);
    let words = stack.words.get((start - stack.start) / WORD..);
    let words = words.unwrap_or_default();
    (pc, Words { start, words })
}
