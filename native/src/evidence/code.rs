//! The code at an address.

use crate::jvm::Jvm;
use crate::jvm::code_cache::CodeCache;
use crate::jvm::symbols;
use crate::records::error_codes::Place;
use hotspot::code::{CodeKind, CodeMemory};

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
        None => match symbols::library(pc) {
            Some(library) => Place::Library(library),
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
