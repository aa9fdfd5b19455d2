//! What can be a return address of Java code.

use crate::memory::Live;
use crate::vm::Vm;
use crate::vm::code_cache::Kind;
use crate::vm::nmethod::Nmethod;
use hotspot::memory::Memory;

/// Whether `word` can be: it stands behind a call that Java code makes, or that leads to Java
/// code.
pub fn is_return(vm: &Vm, memory: &Live<'_>, word: usize) -> bool {
    if word == vm.call_stub.return_address {
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
                // The frame's original pc matters to the frame alone.
                || nmethod.is_deopt_handler(vm.code_cache.nmethods(), memory, word)
        }
        // The entry to a continuation is such a wrapper, and calls Java code.
        Kind::NativeWrapper(_) | Kind::Upcall => is_behind_call(memory, word),
        Kind::Continuation => true,
        Kind::Adapter | Kind::Deoptimization | Kind::Safepoint | Kind::Stub => false,
    }
}

fn has_record(vm: &Vm, memory: &Live<'_>, nmethod: Nmethod, code: usize, pc: usize) -> bool {
    let record = || {
        let tables = nmethod.debug_tables(vm.code_cache.nmethods(), memory)?;
        let offset = i32::try_from(pc.wrapping_sub(code)).ok()?;
        tables.around(memory, offset)?.exact(offset)
    };
    record().is_some_and(|record| record.scope != 0)
}

/// Whether a call ends at `address`: a direct one, or one through a register or memory.
pub fn is_behind_call(memory: &Live<'_>, address: usize) -> bool {
    let byte = |back: usize| memory.u8(address.wrapping_sub(back));
    let is_indirect = |back: usize| {
        byte(back) == Some(0xff) && byte(back - 1).is_some_and(|modrm| (modrm >> 3) & 7 == 2)
    };
    byte(5) == Some(0xe8) || [2, 3, 4, 6, 7].into_iter().any(is_indirect)
}
