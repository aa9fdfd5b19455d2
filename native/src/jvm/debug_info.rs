//! Debug information of compiled code: which frames the compiler recorded where
//! (`share/code/pcDesc.hpp`, `share/code/scopeDesc.cpp`).
//!
//! HotSpot records the inlined frames at calls, polls and implicit checks only, not at every
//! instruction. For a thread that stands between two records AsyncGetCallTrace takes the one
//! behind it in address order (`is_decipherable_compiled_frame` in `share/prims/forte.cpp`):
//! all that HotSpot promises there is a record close by.

use crate::jvm::os::peek::{Plain, peek, peek_bytes};
use crate::jvm::structs::Structs;
use hotspot::code::Blob;
use hotspot::debug_info::{Compression, ScopeDesc};

/// Finds debug records by address.
pub struct DebugInfo {
    tables: Tables,
    compression: Compression,
    const_method: usize,
    const_method_size: usize,
}

/// Where a compiled method keeps its tables.
enum Tables {
    /// In the code blob itself, up to JDK 23.
    InBlob {
        code_begin: usize,
        pcs: usize,
        pcs_end: usize,
        scopes_begin: usize,
        metadata: usize,
    },
    /// Beside the code blob, from JDK 25 on.
    Outside {
        code_offset: usize,
        immutable: usize,
        pcs: usize,
        scopes: usize,
        mutable: usize,
        relocation_size: usize,
    },
}

/// One frame of a record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Scope {
    /// The VM's address of the method.
    pub method: usize,
    /// The start of its bytecode.
    pub code: Vec<u8>,
    /// Its BCI; negative where the record stands for none.
    pub bci: i32,
}

/// The records on both sides of an address, innermost frames first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Around {
    /// The last one at or before it, if there is one: where the thread came from, unless it
    /// jumped.
    pub before: Option<Vec<Scope>>,
    /// The first one behind it: what AsyncGetCallTrace reports.
    pub behind: Vec<Scope>,
}

/// The addresses of one compiled method's tables.
struct Place {
    code: usize,
    pcs: usize,
    pcs_end: usize,
    scopes: usize,
    metadata: usize,
}

/// `PcDesc`.
#[repr(C)]
#[derive(Copy, Clone)]
struct PcDesc {
    pc_offset: i32,
    scope_offset: i32,
    _object_offset: i32,
    _flags: i32,
}

// SAFETY: integers only.
unsafe impl Plain for PcDesc {}

/// Bytes of a method's code that are enough to recognise its entry hook.
const CODE_START: usize = 16;

/// No method inlines deeper.
const MOST_SCOPES: usize = 256;

impl DebugInfo {
    /// `None` if this VM does not describe its debug information as expected. `feature` is
    /// the VM's `java.vm.specification.version`.
    pub fn find(structs: &Structs, feature: u32) -> Option<DebugInfo> {
        // Read as they are laid out since JDK 8; a VM with another size has others.
        if structs.size("PcDesc")? != size_of::<PcDesc>() {
            return None;
        }
        Some(DebugInfo {
            tables: Tables::find(structs)?,
            compression: Compression::of(feature),
            const_method: structs.field(&["Method"], "_constMethod")?,
            const_method_size: structs.size("ConstMethod")?,
        })
    }

    /// The records around `pc`, which lies in the compiled method `blob`.
    pub fn around(&self, blob: &Blob, pc: usize) -> Option<Around> {
        let place = self.tables.place(blob.start)?;
        let offset = i32::try_from(pc.checked_sub(place.code)?).ok()?;
        let (mut before, mut behind) = (None, None);
        let count = place.pcs_end.checked_sub(place.pcs)? / size_of::<PcDesc>();
        for i in 0..count.min(1 << 20) {
            let record: PcDesc = peek(place.pcs + i * size_of::<PcDesc>())?;
            if record.pc_offset > offset {
                behind = Some(record);
                break;
            }
            before = Some(record);
        }
        Some(Around {
            before: before.and_then(|before| self.scopes(&place, before)),
            behind: self.scopes(&place, behind?)?,
        })
    }

    fn scopes(&self, place: &Place, record: PcDesc) -> Option<Vec<Scope>> {
        let mut scopes = Vec::new();
        let mut offset = u32::try_from(record.scope_offset).ok()?;
        while offset != 0 {
            if scopes.len() == MOST_SCOPES {
                return None;
            }
            let start = place.scopes + offset as usize;
            let bytes = peek_bytes(start, ScopeDesc::MOST_BYTES);
            let ScopeDesc {
                sender,
                method,
                bci,
            } = ScopeDesc::read(&bytes, self.compression)?;
            let method = method as usize;
            let method: usize = peek(place.metadata + method.checked_sub(1)? * size_of::<usize>())?;
            let const_method: usize = peek(method + self.const_method)?;
            let code = peek_bytes(const_method + self.const_method_size, CODE_START);
            scopes.push(Scope { method, code, bci });
            offset = sender;
        }
        Some(scopes)
    }
}

impl Tables {
    fn find(structs: &Structs) -> Option<Tables> {
        let method = &["nmethod", "CompiledMethod"];
        let nmethod = |field| structs.field(method, field);
        let blob = |field| structs.field(&["CodeBlob"], field);
        let in_blob = || {
            Some(Tables::InBlob {
                code_begin: blob("_code_begin")?,
                pcs: nmethod("_scopes_pcs_offset")?,
                pcs_end: nmethod("_dependencies_offset")?,
                scopes_begin: nmethod("_scopes_data_begin")?,
                metadata: nmethod("_metadata_offset")?,
            })
        };
        let outside = || {
            Some(Tables::Outside {
                code_offset: blob("_code_offset")?,
                immutable: nmethod("_immutable_data")?,
                pcs: nmethod("_scopes_pcs_offset")?,
                scopes: nmethod("_scopes_data_offset")?,
                mutable: blob("_mutable_data")?,
                relocation_size: blob("_relocation_size")?,
            })
        };
        outside().or_else(in_blob)
    }

    fn place(&self, start: usize) -> Option<Place> {
        let word = |at: usize| peek::<usize>(start + at);
        let int = |at: usize| usize::try_from(peek::<i32>(start + at)?).ok();
        match *self {
            Tables::InBlob {
                code_begin,
                pcs,
                pcs_end,
                scopes_begin,
                metadata,
            } => Some(Place {
                code: word(code_begin)?,
                pcs: start + int(pcs)?,
                pcs_end: start + int(pcs_end)?,
                scopes: word(scopes_begin)?,
                metadata: start + int(metadata)?,
            }),
            Tables::Outside {
                code_offset,
                immutable,
                pcs,
                scopes,
                mutable,
                relocation_size,
            } => {
                let data = word(immutable)?;
                Some(Place {
                    code: start + int(code_offset)?,
                    pcs: data + int(pcs)?,
                    pcs_end: data + int(scopes)?,
                    scopes: data + int(scopes)?,
                    metadata: word(mutable)? + int(relocation_size)?,
                })
            }
        }
    }
}
