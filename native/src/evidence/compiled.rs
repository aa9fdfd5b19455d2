//! The debug info records around a sample's program counter.

use crate::jvm::Jvm;
use crate::jvm::debug_info;
use crate::sampling::sample::Sample;
use hotspot::code::{CodeKind, CodeMemory};
use hotspot::debug_info::{Around, Scope};

/// The records around the program counter of `sample`; `None` if the program counter is not in
/// running compiled Java code, or the records cannot be read.
pub fn records_around(jvm: &Jvm, sample: &Sample) -> Option<Around> {
    let in_java = sample.anchor.is_some_and(|anchor| anchor.is_in_java());
    if !in_java {
        return None;
    }
    let pc = sample.registers.pc;
    let blob = jvm.code_cache.as_ref()?.blob(pc)?;
    if blob.kind() != CodeKind::Compiled {
        return None;
    }
    let around = jvm.debug_info.as_ref()?.around(&blob, pc)?;
    Some(Around {
        before: around.before.map(scopes),
        behind: scopes(around.behind),
    })
}

fn scopes(scopes: Vec<debug_info::Scope>) -> Vec<Scope> {
    let scope = |scope: debug_info::Scope| Scope {
        method: scope.method,
        hook: instrumenter::hook_id_of(&scope.code),
        bci: scope.bci,
    };
    scopes.into_iter().map(scope).collect()
}
