//! The interpreter's codelets: the part of the interpreter at an address
//! (`share/interpreter/templateInterpreter.cpp`, `share/code/stubs.hpp`).

use super::fields::{Fields, Missing};
use crate::arch::{Arch, Native, NotKnown, Registers};
use crate::memory::Memory;
use crate::proofs::InterpreterFrame;
use std::ops::Range;

/// So many bytes at a program counter show whether the interpreter has removed the frame there.
pub const CODE: usize = 96;

/// The codelets, by address.
pub struct Interpreter {
    codelets: Vec<Codelet>,
    code: Range<usize>,
}

/// A piece of the interpreter.
pub struct Codelet {
    code: Range<usize>,
    /// Its purpose.
    pub role: Role,
}

/// The purpose of a codelet, as far as it matters to a walk.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Role {
    /// A method begins in this codelet. Its frame is linked from this address on; `None` if the
    /// method gets no frame.
    Entry(Result<Option<usize>, NotKnown>),
    /// Calls return to this codelet, so return addresses point into it.
    Return,
    /// Any other codelet: bytecodes, and code that they share.
    Body,
}

/// The place of the VM's list of codelets (`StubQueue`).
#[derive(Copy, Clone, Debug)]
pub struct Layout {
    queue: usize,
    buffer: usize,
    begin: usize,
    count: usize,
    size: usize,
    description: usize,
    header: usize,
}

impl Layout {
    /// Finds the layout.
    pub fn find(fields: &impl Fields) -> Result<Layout, Missing> {
        let queue = |field| fields.field(&["StubQueue"], field);
        let stub = |field| fields.field(&["InterpreterCodelet"], field);
        Ok(Layout {
            queue: fields.field(&["AbstractInterpreter"], "_code")?,
            buffer: queue("_stub_buffer")?,
            begin: queue("_queue_begin")?,
            count: queue("_number_of_stubs")?,
            size: stub("_size")?,
            description: stub("_description")?,
            header: fields.size("InterpreterCodelet")?,
        })
    }

    /// The interpreter; `None` if it is not generated yet.
    pub fn read(self, memory: &impl Memory) -> Option<Interpreter> {
        let stubs = memory.word(self.queue)?;
        let buffer = memory.word(stubs + self.buffer)?;
        let begin = memory.u32(stubs + self.begin)? as usize;
        let count = memory.u32(stubs + self.count)?;
        let mut start = buffer + begin;
        let codelets = (0..count.min(1 << 12)).map(|_| {
            let end = start + memory.u32(start + self.size)? as usize;
            let code = start + self.header..end;
            let text = memory.word(start + self.description)?;
            let role = Role::of(memory, &text_at(memory, text), &code);
            start = end;
            Some(Codelet { code, role })
        });
        let codelets = codelets.collect::<Option<Vec<_>>>()?;
        let (first, last) = (codelets.first()?, codelets.last()?);
        Some(Interpreter {
            code: first.code.start..last.code.end,
            codelets,
        })
    }
}

impl Interpreter {
    /// The codelet that `pc` lies in.
    pub fn codelet(&self, pc: usize) -> Option<&Codelet> {
        let behind = self
            .codelets
            .partition_point(|codelet| codelet.code.start <= pc);
        let codelet = self.codelets.get(behind.checked_sub(1)?)?;
        codelet.code.contains(&pc).then_some(codelet)
    }

    /// Whether frames are linked in a form that is known.
    pub fn links_frames(&self) -> bool {
        let links = |codelet: &Codelet| matches!(codelet.role, Role::Entry(Ok(Some(_))));
        self.codelets.iter().any(links)
    }

    /// The addresses of its code, which the VM generates once.
    pub fn code(&self) -> Range<usize> {
        self.code.clone()
    }

    /// Whether `pc` lies in the interpreter.
    #[inline]
    pub fn contains(&self, pc: usize) -> bool {
        self.code.contains(&pc)
    }

    /// Whether calls from interpreted code return to `pc`.
    pub fn is_return(&self, pc: usize) -> bool {
        self.codelet(pc)
            .is_some_and(|codelet| codelet.role == Role::Return)
    }
}

impl Codelet {
    /// Where its code starts.
    pub fn start(&self) -> usize {
        self.code.start
    }

    /// Whether a method is entered at `pc` in the codelet, and its frame is not linked.
    pub fn enters(&self, pc: usize) -> Result<bool, NotKnown> {
        match self.role {
            Role::Entry(link) => Ok(link?.is_none_or(|link| pc < link)),
            Role::Return | Role::Body => Ok(false),
        }
    }

    /// The state of the method's frame at `pc` in the codelet, where the bytes are `code`.
    pub fn frame<A: Arch>(
        &self,
        registers: &Registers,
        code: &[u8],
    ) -> Result<InterpreterFrame, NotKnown> {
        let Registers { pc, sp, fp, .. } = *registers;
        Ok(match self.role {
            _ if self.enters(pc)? => InterpreterFrame::NotBuilt,
            Role::Entry(_) if sp <= fp && fp - sp < A::INTERPRETED.fixed => {
                InterpreterFrame::NotBuilt
            }
            _ if A::is_interpreter_frame_removed(code)? => InterpreterFrame::Removed,
            _ => InterpreterFrame::Intact,
        })
    }
}

impl Role {
    fn of(memory: &impl Memory, description: &str, code: &Range<usize>) -> Role {
        match description {
            "return entry points"
            | "invoke return entry points"
            | "earlyret entry points"
            | "deoptimization entry points"
            | "preemption resume adapter" => Role::Return,
            _ if description.contains("method entry point") => {
                Role::Entry(Native::interpreter_link(memory, code.clone()))
            }
            _ => Role::Body,
        }
    }
}

fn text_at(memory: &impl Memory, address: usize) -> String {
    (address..address.saturating_add(80))
        .map_while(|at| memory.u8(at).filter(|&byte| byte != 0))
        .map(char::from)
        .collect()
}
