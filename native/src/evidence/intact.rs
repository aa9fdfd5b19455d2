//! Whether the first frame of a walk of an interrupted thread is intact.

use crate::jvm::Jvm;
use crate::jvm::code_cache::CodeCache;
use crate::sampling::sample::Sample;
use hotspot::arch::{Arch, Native, Registers};
use hotspot::code::{Blob, CodeKind, CodeMemory};
use hotspot::layout::interpreter::{self, Role};
use hotspot::proofs::InterpreterFrame;
use hotspot::return_address::Word;
use vm::memory::kernel::peek_bytes;

/// These bytes tell whether code builds its frame, or has removed it.
const CODE: usize = 16;

/// Whether the walk begins with an intact frame. Where the thread runs Java code, the code is neither in
/// its prologue nor at its return, nor has the code moved the stack pointer. Elsewhere the anchor leads to a
/// Java frame. A walker that gives an error there refuses a stack that can be walked.
pub fn is_intact(jvm: &Jvm, sample: &Sample) -> bool {
    let registers = &sample.at.registers;
    let Some((cache, seen)) = jvm.code_cache().ok().zip(sample.at.seen) else {
        return false;
    };
    if !seen.is_without_pc() {
        return cache.blob(seen.last.pc).is_some_and(|blob| is_java(&blob));
    }
    let Some(blob) = cache.blob(registers.pc) else {
        return false;
    };
    match blob.kind() {
        CodeKind::Interpreter => is_in_body(jvm, registers),
        CodeKind::Compiled => has_return_address(jvm, sample, &blob),
        CodeKind::NativeWrapper | CodeKind::Stub | CodeKind::Library => false,
    }
}

/// Whether code that calls the VM or native code has a Java frame of its own.
fn is_java(blob: &Blob) -> bool {
    blob.is_nmethod() || blob.kind() == CodeKind::Interpreter
}

/// Whether the interpreter runs a bytecode, and has not removed the frame.
fn is_in_body(jvm: &Jvm, registers: &Registers) -> bool {
    let found = jvm.interpreter().ok();
    let codelet = found.and_then(|found| found.codelet(registers.pc));
    let frame = |code: &[u8]| codelet?.frame::<Native>(registers, code).ok();
    codelet.is_some_and(|codelet| codelet.role == Role::Body)
        && frame(&peek_bytes(registers.pc, interpreter::CODE)) == Some(InterpreterFrame::Intact)
}

/// Whether the return address lies where the size of the compiled code's frame says, and the frame is complete.
fn has_return_address(jvm: &Jvm, sample: &Sample, blob: &Blob) -> bool {
    let pc = sample.at.registers.pc;
    let code = peek_bytes(pc, CODE);
    let has_none = Native::is_prologue(&code) || Native::is_frame_removed(&code);
    // `frame::safe_for_sender` asks `CodeBlob::is_frame_complete_at` first. Where C2 needs no stack bang, one instruction
    // moves the stack pointer, and the next saves the caller's frame pointer: the size of the frame is right between the
    // two already, and the frame is complete after them.
    let is_complete = |cache: &CodeCache| {
        let start = cache.code_of(blob.start)?.start;
        Some(pc >= start + cache.frame_complete(blob.start)?)
    };
    let word = || {
        let cache = jvm.code_cache().ok()?;
        let place = cache.frame_words(blob.start)?.checked_sub(1)?;
        let word = sample.at.stack_top.word(place)?;
        is_complete(cache)?.then(|| Word::of::<Native>(word, blob, cache))
    };
    !has_none && word().is_some_and(|word| word != Word::OfOther)
}
