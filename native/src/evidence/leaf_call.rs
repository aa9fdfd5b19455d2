//! Libraries that run while the thread counts as in Java, without an anchor to its last Java frame.

use super::interpreter::interpreter_frame;
use super::library::{Return, is_behind_call, is_behind_library_call};
use crate::jvm::Jvm;
use crate::jvm::java_thread::ThreadSnapshot;
use crate::jvm::remembered_code::RememberedCode;
use crate::sampling::sample::Interruption;
use hotspot::arch::Registers;
use hotspot::layout::entry::Words;
use hotspot::proofs::InterpreterFrame;
use vm::memory::kernel::OwnMemory;

const WORD: usize = size_of::<usize>();

/// Whether a library runs without an anchor, and its frame pointers lead past the last Java frame, or to none.
pub(super) fn is_leaf_call(jvm: &Jvm, cache: &RememberedCode<'_>, at: &Interruption) -> bool {
    let (stack, registers) = (at.stack_top.stack(), &at.registers);
    at.seen.is_some_and(|seen| seen.is_without_pc())
        && (is_called_below(cache, stack, registers)
            || is_called_without_frame(jvm, cache, stack, registers)
            || is_calling_java(jvm, cache, at))
}

/// Whether the return address into generated code, behind a call to a library, lies below the frame
/// that the frame pointer leads to.
fn is_called_below(cache: &RememberedCode<'_>, stack: Words<'_>, registers: &Registers) -> bool {
    let older = registers.fp.wrapping_add(WORD);
    let count = older.saturating_sub(stack.start) / WORD;
    let mut below = stack.words.iter().take(count);
    registers.fp >= stack.start
        && below.any(|&word| cache.is_code(word) && is_behind_library_call(cache, word))
}

/// Whether the interpreter has called the library that runs, and had removed its frame before: the frame pointers of the
/// library lead to its frame pointer, which is that of an older frame.
fn is_called_without_frame(
    jvm: &Jvm,
    cache: &RememberedCode<'_>,
    stack: Words<'_>,
    registers: &Registers,
) -> bool {
    // Where an exception leaves an interpreted method, for example, `exception_handler_for_return_address` is called in
    // between activations (`TemplateInterpreterGenerator::generate_throw_exception`).
    Return::find(cache, stack, registers.fp).is_some_and(|Return { pc, .. }| {
        let at_return = Registers { pc, ..*registers };
        is_behind_call(pc) && interpreter_frame(jvm, &at_return) == InterpreterFrame::Removed
    })
}

/// Whether the VM runs its own code around a call of a Java method, and the thread has its anchor put away.
pub(super) fn is_calling_java(jvm: &Jvm, cache: &RememberedCode<'_>, at: &Interruption) -> bool {
    let in_java = at.seen.filter(ThreadSnapshot::is_in_java);
    let calls = jvm.java_calls.as_ref().ok().zip(in_java);
    calls.is_some_and(|(calls, seen)| {
        let (stack, fp) = (at.stack_top.stack(), at.registers.fp);
        let is_code = |pc| cache.is_code(pc);
        !is_code(at.registers.pc)
            && calls.is_calling(&OwnMemory, stack, fp, seen.thread, is_code) == Some(true)
    })
}
