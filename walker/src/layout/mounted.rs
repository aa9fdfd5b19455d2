//! Where a mounted continuation is. JDK 25 publishes this. In older VMs the code of two native methods shows it: code
//! that the VM generates when the first continuation runs (`gen_continuation_yield` and
//! `gen_continuation_enter` in `sharedRuntime`, by architecture).

use crate::layout::code_cache::{Blob, CodeCache, Kind};
use hotspot::arch::{Arch, Effect, Follow, Native};
use hotspot::layout::method::Method;
use hotspot::layout::thread::WalkPlaces;
use hotspot::memory::Memory;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// What is published, and what was found in code so far.
pub struct Places {
    /// The field of a thread with the entry of its continuation; 0 if it is not known yet.
    field_of_thread: AtomicUsize,
    /// Where the VM has the address at which an entry continues.
    published_return_pc: Option<usize>,
    /// That address; 0 if it is not known yet.
    return_pc: AtomicUsize,
    /// The field of a method with its compiled code.
    code_of_method: usize,
}

impl Places {
    /// With what the VM publishes: `field_of_thread` is the field with the entry of a thread's continuation.
    pub fn new(walked: &WalkPlaces, field_of_thread: Option<usize>) -> Places {
        Places {
            field_of_thread: AtomicUsize::new(field_of_thread.unwrap_or(0)),
            published_return_pc: walked.continuation_return_pc,
            return_pc: AtomicUsize::new(0),
            code_of_method: walked.code_of_method,
        }
    }

    /// The field of a thread with the entry of its continuation. `freezes` is the method that leaves continuations: its code
    /// loads its stack pointer from this field.
    pub(super) fn field_of_thread(
        &self,
        cache: &CodeCache,
        memory: &impl Memory,
        freezes: Method,
    ) -> Option<usize> {
        known(&self.field_of_thread, || {
            let code = self.code(cache, memory, freezes)?;
            find(memory, &code, |at, bytes| {
                field_to_stack_pointer(bytes, || memory.code(at.wrapping_add(4)))
            })
        })
    }

    /// Where an entry continues behind the frames of the continuation. `enters` is the method that enters continuations: it
    /// continues behind its call of the stub that brings frames to the stack.
    pub(super) fn return_pc(
        &self,
        cache: &CodeCache,
        memory: &impl Memory,
        enters: Method,
    ) -> Option<usize> {
        if let Some(place) = self.published_return_pc {
            return memory.word(place).filter(|&pc| pc != 0);
        }
        known(&self.return_pc, || {
            let code = self.code(cache, memory, enters)?;
            find(memory, &code, |at, bytes| {
                let (target, behind) = called(at, bytes)?;
                let callee = cache.blob(memory, target)?;
                (callee.kind == Kind::Continuation).then_some(behind)
            })
        })
    }

    /// The wrapper of a native method.
    fn code(
        &self,
        cache: &CodeCache,
        memory: &impl Memory,
        Method(method): Method,
    ) -> Option<Blob> {
        let nmethod = memory.word(method.wrapping_add(self.code_of_method))?;
        let blob = cache.blob(memory, nmethod)?;
        matches!(blob.kind, Kind::NativeWrapper(_)).then_some(blob)
    }
}

/// What `place` has, or else what `find` finds, which is kept.
fn known(place: &AtomicUsize, find: impl FnOnce() -> Option<usize>) -> Option<usize> {
    match place.load(Relaxed) {
        0 => {
            let found = find()?;
            place.store(found, Relaxed);
            Some(found)
        }
        known => Some(known),
    }
}

/// What `is` finds at the first address of `code` where it finds something.
fn find(
    memory: &impl Memory,
    code: &Blob,
    is: impl Fn(usize, &[u8; 16]) -> Option<usize>,
) -> Option<usize> {
    /// Such code has some 500 bytes.
    const MOST: usize = 1 << 11;
    let end = code.end.min(code.code.saturating_add(MOST));
    (code.code..end).find_map(|at| is(at, &memory.code(at)))
}

/// The field that the instruction at the start of `bytes` loads the stack pointer from. Where no instruction loads the stack
/// pointer, the instruction `behind` copies it from another register.
fn field_to_stack_pointer(bytes: &[u8; 16], behind: impl Fn() -> [u8; 16]) -> Option<usize> {
    const MOST: usize = 1 << 14;
    let Effect::Load(to, Native::THREAD, field) = Native::decode(bytes)?.effect else {
        return None;
    };
    let copies =
        || Native::decode(&behind()).map(|it| it.effect) == Some(Effect::Move(Native::SP, to));
    if to != Native::SP && !copies() {
        return None;
    }
    let field = usize::try_from(field).ok()?;
    (field < MOST && field.is_multiple_of(size_of::<usize>())).then_some(field)
}

/// The target of the direct call at `at`, and the address behind.
fn called(at: usize, bytes: &[u8; 16]) -> Option<(usize, usize)> {
    let behind = at.wrapping_add(Native::CALL_SIZE);
    let target = Native::call_target(&bytes[..Native::CALL_SIZE], behind)?;
    Some((target, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(start: &[u8]) -> [u8; 16] {
        let mut bytes = [0x90; 16];
        bytes[..start.len()].copy_from_slice(start);
        bytes
    }

    #[test]
    fn the_field_is_the_one_that_the_stack_pointer_is_loaded_from() {
        let load = [0x49, 0x8b, 0xa7, 0x18, 0x06, 0, 0];
        let field = |bytes: &[u8; 16]| field_to_stack_pointer(bytes, || [0x90; 16]);
        assert_eq!(field(&bytes(&load)), Some(0x618));
        // Into another register, from another register, and no field.
        for other in [
            [0x49, 0x8b, 0xaf, 0x18, 0x06, 0, 0],
            [0x48, 0x8b, 0xa7, 0x18, 0x06, 0, 0],
            [0x49, 0x8b, 0xa7, 0x19, 0x06, 0, 0],
            [0x49, 0x8b, 0xa7, 0x18, 0x06, 0, 1],
        ] {
            assert_eq!(field(&bytes(&other)), None);
        }
    }

    #[test]
    fn a_call_leads_from_behind_itself() {
        let call = bytes(&[0xe8, 0xfb, 0xff, 0xff, 0xff]);
        assert_eq!(called(0x1000, &call), Some((0x1000, 0x1005)));
        assert_eq!(called(0x1000, &bytes(&[0xe9])), None);
    }
}
