//! The code at an address, and the debug info records around the place in compiled code at which a sample's walk begins.

use super::library::is_behind_library_call;
use crate::jvm::code_cache::CodeCache;
use crate::jvm::remembered_code::RememberedCode;
use crate::jvm::{Jvm, debug_info, symbols};
use crate::records::places::Place;
use crate::sampling::sample::{Interruption, Sample};
use hotspot::arch::Native;
use hotspot::code::{Blob, CodeKind, CodeMemory};
use hotspot::debug_info::{Around, Scope};
use hotspot::layout::entry::Words;
use hotspot::return_address;

/// The kind of code at `pc`.
pub fn code_of(jvm: &Jvm, pc: usize) -> CodeKind {
    let blob = jvm.code_cache().ok().and_then(|cache| cache.blob(pc));
    blob.map_or(CodeKind::Library, |blob| blob.kind())
}

/// The code at `pc` as a kind: the VM's name for the code, with a compiled method's tier, or the
/// library's file.
pub fn kind_at(jvm: &Jvm, pc: usize) -> Place {
    match jvm.code_cache().ok().and_then(|cache| cache.kind(pc)) {
        Some(kind) => Place::Generated(kind),
        None => match symbols::library_and_build(pc, &jvm.home) {
            Some((name, build)) => Place::Library { name, build },
            None => Place::Generated("no library".into()),
        },
    }
}

/// `package.Class` and name of the method whose compiled code is at `pc`.
pub fn method_at(jvm: &Jvm, pc: usize) -> Option<(String, String)> {
    let cache = jvm.code_cache().ok()?;
    let method = cache.method(&cache.blob(pc)?)?;
    let (class, name) = method.rsplit_once('.')?;
    Some((class.into(), name.into()))
}

/// The code at `pc`: a blob of the code cache or a library, with the offset there.
pub fn describe(jvm: &Jvm, pc: usize) -> String {
    let blob = |cache: &CodeCache| {
        let blob = cache.blob(pc)?;
        Some((cache.method(&blob), blob))
    };
    match jvm.code_cache().ok().and_then(blob) {
        Some((method, blob)) => {
            let method = method.map_or(String::new(), |method| format!(" {method}"));
            let tier = blob
                .tier
                .map_or(String::new(), |tier| format!(" tier {tier}"));
            format!("{}{method}{tier} +{:#x}", blob.name, pc - blob.start)
        }
        None => symbols::describe(pc),
    }
}

/// The records around the place in compiled code at which the walk of `sample` begins: the program counter, or where the
/// library that runs returns to, if compiled code has called it without an anchor. `None` if the thread does not run Java
/// code, or the records cannot be read.
pub fn records_around(jvm: &Jvm, sample: &Sample) -> Option<Around> {
    let in_java = sample.at.seen.is_some_and(|seen| seen.is_without_pc());
    if !in_java {
        return None;
    }
    let pc = sample.at.registers.pc;
    let found = match jvm.code_cache().ok()?.blob(pc) {
        Some(blob) => records_of(jvm, &blob, pc),
        None => {
            let cache = RememberedCode::new(jvm.code_cache().ok()?);
            leaf_call_records(jvm, &cache, &sample.at)
        }
    };
    let found = found?;
    Some(Around {
        before: found.before.map(scopes),
        behind: scopes(found.behind),
    })
}

/// The records around where the library or the stub that runs returns to, if compiled code has called it without an anchor
/// and without a record.
pub fn leaf_call_records(
    jvm: &Jvm,
    cache: &RememberedCode<'_>,
    at: &Interruption,
) -> Option<debug_info::Around> {
    let in_java = at.seen.is_some_and(|seen| seen.is_without_pc());
    let records = jvm.debug_info.as_ref().ok()?;
    let running = cache.blob(at.registers.pc);
    let may_be_called = running
        .as_ref()
        .is_none_or(|blob| blob.kind() == CodeKind::Stub);
    if !in_java || !may_be_called {
        return None;
    }
    let (blob, pc) = leaf_call(cache, running.as_ref(), at.stack_top.stack())?;
    let at_return = records.around(&blob, pc)?;
    // Most stubs are called with a record of the call.
    if running.is_some() && at_return.is_exact {
        return None;
    }
    // A leaf call has no record of its own: one at its return address is that of the next instruction.
    let before = records.around(&blob, pc.checked_sub(1)?)?.before;
    Some(debug_info::Around {
        is_exact: false,
        before,
        behind: at_return.behind,
    })
}

/// The records around `pc`, if that is in compiled code; `None` also if the records cannot be read.
pub fn records_at(jvm: &Jvm, pc: usize) -> Option<debug_info::Around> {
    records_of(jvm, &jvm.code_cache().ok()?.blob(pc)?, pc)
}

fn records_of(jvm: &Jvm, blob: &Blob, pc: usize) -> Option<debug_info::Around> {
    if blob.kind() != CodeKind::Compiled {
        return None;
    }
    jvm.debug_info.as_ref().ok()?.around(blob, pc)
}

/// The compiled code that has called the library that runs, or the stub `running`, and where that returns to.
///
/// For a synchronized method, for example, compiled code calls `SharedRuntime::complete_monitor_unlocking_C` behind the
/// hook of the method's exit. Such a call leaves no anchor, so the walker follows the frame pointers of the library to the
/// frame of the compiled code, and takes the next record behind the call. C1 calls the stubs of G1's barriers
/// (`g1_post_barrier_slow`) in this way, too.
fn leaf_call(
    cache: &RememberedCode<'_>,
    running: Option<&Blob>,
    stack: Words<'_>,
) -> Option<(Blob, usize)> {
    let calls_library = |pc: usize| is_behind_library_call(cache, pc);
    // An older call may have left such a word behind. So the frame must be there: it begins behind the return address, and
    // ends with that of its caller.
    let is_framed = |blob: &Blob, at: usize| {
        let caller = cache
            .frame_words(blob.start)
            .and_then(|words| stack.words.get(at + words));
        caller.is_some_and(|&caller| cache.is_code(caller))
    };
    // C1 calls some such functions through a stub (`Runtime1::monitorexit_id`), whose anchor has no program counter: then the
    // stub's own return address lies above that of its caller.
    let mut stubs: Vec<usize> = running.iter().map(|blob| blob.start).collect();
    let calls_stub = |pc: usize, stubs: &[usize]| {
        let called = return_address::called::<Native>(pc, cache);
        called.is_some_and(|called| stubs.contains(&called.start))
    };
    let mut words = stack.words.iter().copied().enumerate();
    words.find_map(|(at, pc)| {
        let blob = cache.blob(pc)?;
        if blob.kind() == CodeKind::Stub && calls_library(pc) {
            stubs.push(blob.start);
        }
        let is_caller =
            blob.kind() == CodeKind::Compiled && (calls_library(pc) || calls_stub(pc, &stubs));
        (is_caller && is_framed(&blob, at)).then_some((blob, pc))
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
