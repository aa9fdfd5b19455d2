//! Debug info of compiled code: the frames that the compiler recorded at each program counter.
//!
//! For a thread that is between two debug info records, AsyncGetCallTrace takes the record behind
//! in address order (`is_decipherable_compiled_frame` in `share/prims/forte.cpp`). HotSpot promises
//! only a nearby record there.

use hotspot::code::Blob;
use hotspot::layout::debug_info::{Compression, check_records};
use hotspot::layout::fields::Missing;
use hotspot::layout::method::{Layout as Methods, Method};
use hotspot::layout::nmethod::{DebugTables, Layout, Nmethod};
use hotspot::memory::Memory;
use vm::memory::kernel::{OwnMemory, peek_bytes};
use vm::memory::pages::Pages;
use vm::tables::Tables;

/// Finds debug info records by address.
pub struct DebugInfo {
    nmethods: Layout,
    compression: Compression,
    methods: Methods,
}

/// One frame of a record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Scope {
    /// The VM's address of the method.
    pub method: usize,
    /// The start of its bytecode.
    pub code: Vec<u8>,
    /// Its BCI; negative if the record has no BCI.
    pub bci: i32,
}

/// The records on both sides of an address, innermost frames first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Around {
    /// Whether there is a record at the address itself.
    pub is_exact: bool,
    /// The last record at or before the address, if there is one: where the thread came from,
    /// unless the thread jumped.
    pub before: Option<Vec<Scope>>,
    /// The first record behind the address, which AsyncGetCallTrace reports.
    pub behind: Vec<Scope>,
}

/// The number of bytes of a method's code that is enough to recognise its entry hook.
const CODE_START: usize = 16;

/// A limit that no depth of inlining reaches.
const MOST_SCOPES: usize = 256;

impl DebugInfo {
    /// Finds the layouts. `feature` is the VM's `java.vm.specification.version`.
    pub fn find(tables: &Tables, feature: u32) -> Result<DebugInfo, Missing> {
        check_records(tables)?;
        Ok(DebugInfo {
            nmethods: Layout::find(tables)?,
            compression: Compression::of(feature),
            methods: Methods::find(tables)?,
        })
    }

    /// The records around `pc`, which lies in the compiled method `blob`.
    pub fn around(&self, blob: &Blob, pc: usize) -> Option<Around> {
        let pages = Pages::default();
        let tables = Nmethod(blob.start).debug_tables(&self.nmethods, &pages)?;
        let offset = i32::try_from(pc.checked_sub(tables.code)?).ok()?;
        let around = tables.around(&pages, offset)?;
        let scopes = |innermost| self.scopes(&pages, &tables, innermost);
        Some(Around {
            is_exact: around.exact(offset).is_some(),
            before: around.before.and_then(|before| scopes(before.scope)),
            behind: scopes(around.behind?.scope)?,
        })
    }

    /// The tables of the compiled method `blob`, read from `memory`.
    pub fn tables(&self, memory: &impl Memory, blob: &Blob) -> Option<DebugTables> {
        Nmethod(blob.start).debug_tables(&self.nmethods, memory)
    }

    /// Whether a frame of the compiled method `blob` that continues at `pc` will be deoptimised.
    pub fn is_deopt_handler(&self, blob: &Blob, pc: usize) -> bool {
        Nmethod(blob.start).is_deopt_handler(&self.nmethods, &OwnMemory, pc)
    }

    fn scopes(&self, pages: &Pages, tables: &DebugTables, innermost: u32) -> Option<Vec<Scope>> {
        let mut scopes = Vec::new();
        let mut next = innermost;
        while next != 0 {
            if scopes.len() == MOST_SCOPES {
                return None;
            }
            let scope = tables.scope(pages, self.compression, next)?;
            let (code, _) = Method(scope.method).code(&self.methods, pages)?;
            scopes.push(Scope {
                method: scope.method,
                code: peek_bytes(code, CODE_START),
                bci: scope.bci,
            });
            next = scope.sender;
        }
        Some(scopes)
    }
}
