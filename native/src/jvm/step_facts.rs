//! Code and methods of the VM, for the truth by steps.

use crate::jvm::code_cache::CodeCache;
use crate::jvm::os::peek::{OwnMemory, peek};
use crate::jvm::structs::Structs;
use hotspot::arch::Native;
use hotspot::code::CodeMemory;
use hotspot::return_address::called;
use hotspot::steps::anchor::{Anchor, Blob, Vm};
use hotspot::steps::truth::{Bci, Facts, Line, Records};
use hotspot::steps::{Code, Piece};
use hotspot::vm::debug_info::{Compression, RECORD, Record};
use hotspot::vm::entry::Layout as JavaCalls;
use hotspot::vm::fields::Fields;
use hotspot::vm::frame_complete::FrameComplete;
use hotspot::vm::nmethod::{DebugTables, Layout, Nmethod};
use std::rc::Rc;

/// The places of what the truth by steps needs.
pub struct StepFacts {
    nmethods: Layout,
    compression: Compression,
    stubs: Option<usize>,
    frame_complete: FrameComplete,
    code: CodeCache,
    java_calls: JavaCalls,
    access_flags: usize,
    const_method: usize,
    const_method_size: usize,
    code_size: usize,
}

/// `JVM_ACC_NATIVE` (JVMS 4.6).
const NATIVE: u16 = 0x100;

/// `JVM_ACC_SYNTHETIC` (JVMS 4.6).
const SYNTHETIC: u16 = 0x1000;

/// A limit that no depth of inlining reaches.
const MOST_SCOPES: usize = 256;

impl StepFacts {
    /// Whether the VM itself has made the method at this address, to call what a method handle leads to
    /// (`Method::make_method_handle_intrinsic`).
    pub fn is_linker(&self, method: usize) -> bool {
        const BOTH: u16 = NATIVE | SYNTHETIC;
        let flags = peek::<u16>(method.wrapping_add(self.access_flags));
        flags.is_some_and(|flags| flags & BOTH == BOTH)
    }

    /// `None` if this VM does not describe its code as expected. `feature` is the VM's
    /// `java.vm.specification.version`.
    pub fn find(structs: &Structs, feature: u32) -> Option<StepFacts> {
        if structs.size("PcDesc")? != RECORD {
            return None;
        }
        Some(StepFacts {
            nmethods: Layout::find(structs)?,
            compression: Compression::of(feature),
            frame_complete: FrameComplete::find(structs)?,
            stubs: structs.field(&["nmethod"], "_stub_offset"),
            code: CodeCache::find(structs)?,
            java_calls: JavaCalls::find(structs)?,
            access_flags: structs.field(&["Method"], "_access_flags")?,
            const_method: structs.field(&["Method"], "_constMethod")?,
            const_method_size: structs.size("ConstMethod")?,
            code_size: structs.field(&["ConstMethod"], "_code_size")?,
        })
    }

    /// Where the stubs of the compiled method `blob` begin, behind its code.
    pub fn stubs(&self, blob: usize) -> Option<usize> {
        let distance: i32 = peek(blob + self.stubs?)?;
        Some(blob.wrapping_add_signed(distance as isize))
    }

    /// Where the frame of the compiled method `blob` is complete, and its body begins; `None` if it has no frame.
    pub fn body(&self, blob: usize) -> Option<usize> {
        let tables = Nmethod(blob).debug_tables(&self.nmethods, &OwnMemory)?;
        let distance = self.frame_complete.read(&OwnMemory, blob)?;
        Some(tables.code + usize::try_from(distance).ok()?)
    }

    /// Whether the instruction before `pc` is a call that has a debug info record.
    fn is_behind_call(&self, pc: usize) -> bool {
        // Such calls are direct calls of generated code: the code cache is small enough.
        let called = called::<Native>(pc, &self.code);
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
        let exact = self.lines(&tables, around.exact(offset));
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
        let flags: u16 = peek(method + self.access_flags)?;
        if flags & NATIVE != 0 {
            return Some(Bci::Native);
        }
        let const_method: usize = peek(method + self.const_method)?;
        let size: u16 = peek(const_method + self.code_size)?;
        let bci = bcp.checked_sub(const_method + self.const_method_size)?;
        (bci < usize::from(size)).then_some(Bci::At(i32::try_from(bci).ok()?))
    }

    fn frame_words(&self, Piece { blob, .. }: Piece) -> Option<usize> {
        self.code.frame_words_of(blob)
    }

    fn is_at_beginning(&self, Piece { blob, .. }: Piece, pc: usize) -> bool {
        self.body(blob).is_some_and(|body| pc < body)
    }

    fn moves_frames(&self, method: usize) -> bool {
        let name = self.code.method_name(method);
        name.is_some_and(|name| name == "jdk.internal.vm.Continuation.doYield")
    }

    fn is_in_stubs(&self, Piece { blob, .. }: Piece, pc: usize) -> bool {
        self.stubs(blob).is_some_and(|stubs| pc >= stubs)
    }
}

impl Vm for StepFacts {
    fn blob(&self, pc: usize) -> Option<Blob> {
        let blob = self.code.blob(pc)?;
        Some(Blob {
            code: Code::of(blob.name.as_bytes()),
            piece: Piece {
                id: self.code.compile_id_of(&blob),
                blob: blob.start,
            },
            frame_words: self.code.frame_words(&blob).unwrap_or(0),
        })
    }

    fn original_pc(&self, blob: usize, pc: usize, sp: usize) -> Option<usize> {
        Nmethod(blob).original_pc(&self.nmethods, &OwnMemory, pc, sp)
    }

    fn is_java_calls_entry(&self, pc: usize) -> bool {
        self.java_calls.is_return_address(&OwnMemory, pc)
    }

    fn kept_anchor(&self, fp: usize) -> Option<Anchor> {
        self.java_calls.kept_anchor(&OwnMemory, fp)
    }
}
