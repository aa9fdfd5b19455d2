//! Code and methods of the VM, for the truth by steps.

use crate::jvm::code_cache::CodeCache;
use hotspot::arch::Native;
use hotspot::code::CodeMemory;
use hotspot::layout::bytecodes::{Bytecode, VmOpcodes};
use hotspot::layout::debug_info::{Compression, Record, check_records};
use hotspot::layout::entry::Layout as JavaCalls;
use hotspot::layout::fields::Missing;
use hotspot::layout::interpreter::Interpreter;
use hotspot::layout::method::{Layout as Methods, Method};
use hotspot::layout::nmethod::{DebugTables, Layout, Nmethod};
use hotspot::layout::oop_maps::Layout as OopMaps;
use hotspot::layout::thread::{Anchor, AnchorLayout};
use hotspot::return_address::called;
use hotspot::steps::anchor::{Blob, Vm};
use hotspot::steps::truth::{Bci, Facts, Line, Records};
use hotspot::steps::{Code, Piece};
use std::rc::Rc;
use std::sync::Arc;
use vm::memory::kernel::OwnMemory;
use vm::tables::Tables;

/// The places of what the truth by steps needs.
pub struct StepFacts {
    nmethods: Layout,
    compression: Compression,
    code: Arc<CodeCache>,
    java_calls: JavaCalls,
    methods: Methods,
    opcodes: VmOpcodes,
    maps: Option<OopMaps>,
}

/// A limit that no depth of inlining reaches.
const MOST_SCOPES: usize = 256;

impl StepFacts {
    /// Whether the VM itself has made the method at this address, to call what a method handle leads to.
    pub fn is_linker(&self, method: usize) -> bool {
        let flags = Method(method).flags(&self.methods, &OwnMemory);
        flags.is_some_and(|flags| flags.is_linker())
    }

    /// Finds the layouts. `feature` is the VM's `java.vm.specification.version`.
    pub fn find(
        tables: &Tables,
        code: &Result<Arc<CodeCache>, Missing>,
        feature: u32,
    ) -> Result<StepFacts, Missing> {
        check_records(tables)?;
        AnchorLayout::find(tables)?.check_fp()?;
        let code = code.clone()?;
        code.names().map_err(Missing::clone)?;
        Ok(StepFacts {
            nmethods: Layout::find(tables)?,
            compression: Compression::of(feature),
            code,
            java_calls: JavaCalls::find(tables)?,
            methods: Methods::find(tables)?,
            opcodes: VmOpcodes::find(tables),
            maps: OopMaps::find(tables).ok(),
        })
    }

    /// Where the stubs of the compiled method `blob` begin, behind its code.
    pub fn stubs(&self, blob: usize) -> Option<usize> {
        Nmethod(blob).stubs(&self.nmethods, &OwnMemory)
    }

    /// Where the frame of the compiled method `blob` is complete, and its body begins; `None` if it has no frame.
    pub fn body(&self, blob: usize) -> Option<usize> {
        Some(self.code.code_of(blob)?.start + self.code.frame_complete(blob)?)
    }

    /// Whether the instruction before `pc` is a call that has a debug info record.
    fn is_behind_call(&self, pc: usize) -> bool {
        // Such calls are direct calls of generated code: the code cache is small enough.
        let called = called::<Native>(pc, &*self.code);
        // Compiled code calls `StubRoutines` as it calls C. A record behind such a call is of other code.
        called.is_some_and(|called| !called.name.starts_with("StubRoutines"))
    }

    fn lines(&self, tables: &DebugTables, record: Option<Record>) -> Option<Vec<Line>> {
        let mut lines = Vec::new();
        let mut next = record?.scope;
        while next != 0 {
            if lines.len() == MOST_SCOPES {
                return None;
            }
            let scope = tables.scope(&OwnMemory, self.compression, next)?;
            lines.push(Line {
                method: scope.method,
                bci: match scope.bci {
                    // A record that stands for no instruction, as at the entry of a synchronized method.
                    ..0 => Bci::Any,
                    bci => Bci::At(bci),
                },
            });
            next = scope.sender;
        }
        (!lines.is_empty()).then_some(lines)
    }
}

impl Facts for StepFacts {
    fn records(&self, Piece { blob, .. }: Piece, pc: usize) -> Option<Rc<Records>> {
        let tables = Nmethod(blob).debug_tables(&self.nmethods, &OwnMemory)?;
        let offset = i32::try_from(pc.checked_sub(tables.code)?).ok()?;
        let around = tables.around(&OwnMemory, offset)?;
        // With DebugNonSafepoints a record without an oop map is of the instructions before it, so it says nothing of the
        // instruction that begins there.
        let has_map = |record: &Record| {
            let maps = self.maps.as_ref();
            maps.and_then(|maps| maps.has_map(&OwnMemory, Nmethod(blob), record.pc_offset))
                != Some(false)
        };
        let exact = self.lines(&tables, around.exact(offset).filter(has_map));
        Some(Rc::new(Records {
            is_of_call: exact.is_some() && self.is_behind_call(pc),
            exact,
            before: self.lines(&tables, around.before),
            behind: self.lines(&tables, around.behind),
        }))
    }

    fn method(&self, Piece { blob, .. }: Piece) -> Option<usize> {
        Nmethod(blob).method(&self.nmethods, &OwnMemory)
    }

    fn bci(&self, method: usize, bcp: usize) -> Option<Bci> {
        let method = Method(method);
        if method.flags(&self.methods, &OwnMemory)?.is_native() {
            return Some(Bci::Native);
        }
        let (code, size) = method.code(&self.methods, &OwnMemory)?;
        let bci = bcp.checked_sub(code)?;
        (bci < usize::from(size)).then_some(Bci::At(i32::try_from(bci).ok()?))
    }

    fn frame_words(&self, Piece { blob, .. }: Piece) -> Option<usize> {
        self.code.frame_words(blob)
    }

    fn is_at_beginning(&self, Piece { blob, .. }: Piece, pc: usize) -> bool {
        self.body(blob).is_some_and(|body| pc < body)
    }

    fn moves_frames(&self, method: usize) -> bool {
        let name = self.code.method_name(method);
        name.is_some_and(|name| name == "jdk.internal.vm.Continuation.doYield")
    }

    fn calls_nothing(&self, method: usize) -> bool {
        let code = Method(method).code(&self.methods, &OwnMemory);
        let bytecode = code.map(|(start, size)| Bytecode {
            start,
            size,
            opcodes: self.opcodes,
        });
        bytecode.and_then(|bytecode| bytecode.calls(&OwnMemory)) == Some(false)
    }

    fn is_in_stubs(&self, Piece { blob, .. }: Piece, pc: usize) -> bool {
        self.stubs(blob).is_some_and(|stubs| pc >= stubs)
    }
}

/// What a walk from an anchor needs.
pub struct AnchorFacts<'a> {
    /// Code and methods.
    pub facts: &'a StepFacts,
    /// The interpreter.
    pub interpreter: &'a Interpreter,
}

impl Vm for AnchorFacts<'_> {
    fn blob(&self, pc: usize) -> Option<Blob> {
        let code = &self.facts.code;
        let blob = code.blob(pc)?;
        Some(Blob {
            code: Code::of(blob.name.as_bytes()),
            piece: Piece {
                id: code.compile_id_of(&blob),
                blob: blob.start,
            },
            frame_words: code.frame_words(blob.start).unwrap_or(0),
        })
    }

    fn original_pc(&self, blob: usize, pc: usize, sp: usize) -> Option<usize> {
        Nmethod(blob).original_pc(&self.facts.nmethods, &OwnMemory, pc, sp)
    }

    fn is_invoke_return(&self, pc: usize) -> bool {
        self.interpreter.is_return(pc)
    }

    fn is_java_calls_entry(&self, pc: usize) -> bool {
        self.facts.java_calls.is_return_address(&OwnMemory, pc)
    }

    fn kept_anchor(&self, fp: usize) -> Option<Anchor> {
        self.facts.java_calls.kept_anchor(&OwnMemory, fp)
    }
}
