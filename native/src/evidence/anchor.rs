//! Where the VM's anchor of a thread leads to, also where it has no program counter.

use crate::jvm::code_cache::CodeCache;
use crate::sampling::sample::Interruption;
use hotspot::code::{CodeKind, CodeMemory};
use hotspot::layout::entry::Words;

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
pub fn in_stub<'a>(cache: &CodeCache, at: &'a Interruption) -> (usize, Words<'a>) {
    let stack = at.stack_top.stack();
    let Some(pc) = anchored(cache, at) else {
        return (at.registers.pc, stack);
    };
    let start = at
        .seen
        .map_or(stack.start, |seen| seen.last.sp.max(stack.start));
    let words = stack.words.get((start - stack.start) / WORD..);
    let words = words.unwrap_or_default();
    (pc, Words { start, words })
}
