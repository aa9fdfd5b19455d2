//! The frame to which a library's frame pointers lead, where its stack pointer is another than the walker computes from them.

use super::leaf_call::is_calling_java;
use super::library::Return;
use super::record_behind::named_as_running;
use crate::jvm::Jvm;
use crate::jvm::remembered_code::RememberedCode;
use crate::sampling::sample::Interruption;
use hotspot::arch::{Arch, InterpretedFrame, Native, RETURN_ADDRESS};
use hotspot::at_request::NamedFrame;
use hotspot::code::{Blob, CodeKind, CodeMemory};
use hotspot::layout::entry::Words;
use hotspot::layout::thread::Anchor;
use oracle::trace::Location;

const WORD: usize = size_of::<usize>();

/// The frames of the code that the library which runs seems to return to, newest first, if the walker looks for their caller at
/// a wrong place: it reports these frames, and ends there.
pub(super) fn misplaced_frames(
    jvm: &Jvm,
    cache: &RememberedCode<'_>,
    at: &Interruption,
) -> Option<Vec<NamedFrame>> {
    let stack = at.stack_top.stack();
    // The frame pointer may be that of a stub, whose walk goes on with the frame pointer that it has saved: the barrier at a
    // method's entry has a word between its frame pointer and its return address
    // (`StubGenerator::generate_method_entry_barrier`).
    let found = Return::find(cache, stack, at.registers.fp)?;
    let is_misplaced =
        is_moved_by_adapter(cache, stack, found) || is_of_other_frame(jvm, cache, at, found);
    is_misplaced.then(|| frames_at(jvm, cache, found.pc))?
}

/// Whether the VM calls a Java method for a native method, and the walk, whose newest frame is `top`, does not begin with the
/// native method: where the anchor is put away, nothing else leads to the newest frame.
pub(super) fn begins_elsewhere(
    jvm: &Jvm,
    cache: &RememberedCode<'_>,
    at: &Interruption,
    top: &NamedFrame,
) -> bool {
    let calling = kept_anchor(jvm, at).and_then(|kept| cache.blob(kept.pc));
    let native = calling.filter(|code| code.kind() == CodeKind::NativeWrapper);
    let native = native.and_then(|code| native_frame(cache, &code));
    is_calling_java(jvm, cache, at) && native.is_some_and(|native| native != *top)
}

/// The anchor of the last Java frame that the VM has put away while it calls a Java method.
fn kept_anchor(jvm: &Jvm, at: &Interruption) -> Option<Anchor> {
    let calls = jvm.java_calls.as_ref().ok()?;
    calls.newest_anchor(at.stack_top.stack(), at.seen?.thread)
}

fn native_frame(cache: &RememberedCode<'_>, code: &Blob) -> Option<NamedFrame> {
    Some((cache.method(code)?, Location::NATIVE.0))
}

/// Whether the frame that returns is that of an interpreted method, and an adapter has moved the stack pointer below it.
fn is_moved_by_adapter(cache: &RememberedCode<'_>, stack: Words<'_>, found: Return) -> bool {
    // In words, those of the longs counted twice (JVMS, 4.11).
    const MOST_ARGUMENTS: usize = 256;
    const FRAME: InterpretedFrame = Native::INTERPRETED;
    let below = |distance: usize| stack.at(found.frame.wrapping_sub(distance));
    let is_interpreted =
        || below(FRAME.method).is_some_and(|method| cache.method_name(method).is_some());
    let expected = found.frame.wrapping_add(RETURN_ADDRESS + WORD);
    let is_moved = |sp: usize| expected < sp && sp <= expected + MOST_ARGUMENTS * WORD;
    below(FRAME.sender_sp).is_some_and(is_moved) && is_interpreted()
}

/// Whether the VM calls a Java method, and the anchor that it has put away is that of the code which is found, with another stack
/// pointer.
fn is_of_other_frame(
    jvm: &Jvm,
    cache: &RememberedCode<'_>,
    at: &Interruption,
    found: Return,
) -> bool {
    let kept = kept_anchor(jvm, at);
    kept.zip(found.sp).is_some_and(|(kept, sp)| {
        let code = |pc| cache.blob(pc).map(|blob| blob.start);
        kept.sp != sp && code(kept.pc).is_some() && code(kept.pc) == code(found.pc)
    })
}

/// The frames that a walker reports of the code that a call returns to at `pc`.
fn frames_at(jvm: &Jvm, cache: &RememberedCode<'_>, pc: usize) -> Option<Vec<NamedFrame>> {
    let code = cache.blob(pc)?;
    match code.kind() {
        CodeKind::NativeWrapper => native_frame(cache, &code).map(|frame| vec![frame]),
        _ => named_as_running(jvm, cache, pc),
    }
}
