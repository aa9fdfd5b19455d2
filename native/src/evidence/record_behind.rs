//! The debug info record behind that of a call. A walker reports its frames where it looks for a record one byte behind a return
//! address, as it does for an instruction that runs (`is_decipherable_compiled_frame`, `share/prims/forte.cpp`).

use crate::jvm::Jvm;
use crate::jvm::debug_info::{Around, Scope};
use crate::jvm::remembered_code::RememberedCode;
use hotspot::at_request::NamedFrame;
use hotspot::code::{Blob, CodeKind, CodeMemory};

/// The debug info records of the call that returns to `pc`, and behind it.
fn around(jvm: &Jvm, cache: &RememberedCode<'_>, pc: usize) -> Option<Around> {
    let is_compiled = |blob: &Blob| blob.kind() == CodeKind::Compiled;
    let caller = cache.blob(pc).filter(is_compiled)?;
    let around = jvm.debug_info.as_ref().ok()?.around(&caller, pc)?;
    around.is_exact.then_some(around)
}

/// The debug info record behind that of the call that returns to `pc`.
pub(super) fn record_behind(
    jvm: &Jvm,
    cache: &RememberedCode<'_>,
    pc: usize,
) -> Option<Vec<Scope>> {
    around(jvm, cache, pc).map(|around| around.behind)
}

/// The frames of this record by their names.
pub(super) fn named_behind(
    jvm: &Jvm,
    cache: &RememberedCode<'_>,
    pc: usize,
) -> Option<Vec<NamedFrame>> {
    named(cache, &record_behind(jvm, cache, pc)?)
}

/// The frames that a walker reports of compiled code that a call returns to at `pc`, if it takes this for an instruction that runs:
/// those of the record behind, or of the call's own record where that one has no frames, as at the handler of exceptions.
pub(super) fn named_as_running(
    jvm: &Jvm,
    cache: &RememberedCode<'_>,
    pc: usize,
) -> Option<Vec<NamedFrame>> {
    let around = around(jvm, cache, pc)?;
    let is_empty = around.behind.is_empty();
    let record = if is_empty {
        around.before?
    } else {
        around.behind
    };
    named(cache, &record)
}

fn named(cache: &RememberedCode<'_>, record: &[Scope]) -> Option<Vec<NamedFrame>> {
    let named = |scope: &Scope| Some((cache.method_name(scope.method)?, scope.bci));
    record.iter().map(named).collect()
}
