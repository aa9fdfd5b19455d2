//! Which words can be return addresses of Java code.

use crate::layout::Vm;
use crate::layout::code_cache::{Blob, Kind};
use hotspot::arch::{Follow, Native};
use hotspot::layout::nmethod::Nmethod;
use vm::memory::Live;

/// Whether `word` can be a return address: it is behind a call that Java code makes, or that leads
/// to Java code.
pub fn is_return(vm: &Vm, memory: &Live<'_>, word: usize) -> bool {
    if word == vm.call_stub.return_address {
        return true;
    }
    if vm.interpreter.contains(word) {
        return vm.interpreter.is_return(word);
    }
    if vm.sites.call(&vm.code_cache, word).is_some() {
        return true;
    }
    let Some(blob) = vm.code_cache.blob(memory, word) else {
        return false;
    };
    if !(blob.code..blob.end).contains(&word) {
        return false;
    }
    match blob.kind {
        Kind::Interpreter => vm.interpreter.is_return(word),
        Kind::Compiled(nmethod) => {
            has_record(vm, memory, nmethod, blob.code, word)
                // The original pc of the frame does not matter here.
                || nmethod.is_deopt_handler(vm.code_cache.nmethods(), memory, word)
        }
        // The entry of a continuation is such a wrapper, and calls Java code.
        Kind::NativeWrapper(_) | Kind::Upcall => {
            let has_frame = blob.frame_complete.is_none_or(|complete| word > complete);
            has_frame && is_behind_call(memory, word)
        }
        Kind::Continuation => true,
        Kind::Adapter
        | Kind::Vtable
        | Kind::Deoptimization
        | Kind::Safepoint
        | Kind::Routine
        | Kind::Stub => false,
    }
}

/// Whether a call ends at `pc` in compiled code that has no debug info record: a call of C, or of a stub that is
/// called like C. A record at `pc` is then of the instruction behind the call, which another method may be inlined at.
pub fn is_leaf_call(vm: &Vm, memory: &Live<'_>, pc: usize) -> bool {
    // Compiled code calls all other code directly: the code cache is small enough.
    let Some(target) = direct_target(memory, pc) else {
        return is_behind_indirect_call(memory, pc);
    };
    let callee = vm.code_cache.blob(memory, target);
    callee.is_none_or(|callee| callee.kind == Kind::Routine)
}

fn has_record(vm: &Vm, memory: &Live<'_>, nmethod: Nmethod, code: usize, pc: usize) -> bool {
    let record = || {
        let tables = nmethod.debug_tables(vm.code_cache.nmethods(), memory)?;
        let offset = i32::try_from(pc.wrapping_sub(code)).ok()?;
        let record = tables.around(memory, offset)?.exact(offset)?;
        // A record without an oop map is at no call.
        let is_other = vm.code_cache.has_map(memory, nmethod, offset) == Some(false);
        (record.scope != 0 && !is_other).then_some(())
    };
    record().is_some()
}

/// Whether the call that ends at `pc` in compiled code is one of the VM's code, which may not return: a thread that is at
/// `pc` may have come there by a branch. Behind a call that deoptimises, other code begins at once.
pub fn is_behind_call_of_vm(vm: &Vm, memory: &Live<'_>, pc: usize) -> bool {
    let callee = direct_target(memory, pc).and_then(|target| vm.code_cache.blob(memory, target));
    callee.is_some_and(|callee| {
        matches!(
            callee.kind,
            Kind::Deoptimization | Kind::Safepoint | Kind::Routine | Kind::Stub
        )
    })
}

/// Whether a call ends at `address`: a direct call, or a call through a register or memory.
pub fn is_behind_call(memory: &Live<'_>, address: usize) -> bool {
    is_behind_indirect_call(memory, address) || direct_target(memory, address).is_some()
}

/// Whether a direct call of the code in `blob` ends at `address`.
pub fn calls_into(memory: &Live<'_>, blob: &Blob, address: usize) -> bool {
    direct_target(memory, address).is_some_and(|target| (blob.code..blob.end).contains(&target))
}

/// Whether a call through a register or memory may end at `address`, and a direct call may not.
pub fn is_behind_indirect_call(memory: &Live<'_>, address: usize) -> bool {
    Native::is_behind_indirect_call(memory, address)
}

/// The target of the direct call that ends at `address`.
fn direct_target(memory: &Live<'_>, address: usize) -> Option<usize> {
    Native::direct_call_before(memory, address)
}
