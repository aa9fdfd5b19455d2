//! The stub through which the VM calls Java methods (`StubGenerator::generate_call_stub`). Its
//! frame leads to the Java frames below the VM's frames.

use crate::arch;
use hotspot::arch::{Effect, Follow, Native, NativeRegisters};
use hotspot::layout::entry::{Layout, WRAPPER_OFFSET};
use hotspot::layout::fields::Missing;
use hotspot::layout::thread::Anchor;
use hotspot::memory::Memory;
use std::ops::Range;
use vm::tables::Tables;

/// The stub.
pub struct CallStub {
    /// Its code, and the code that catches exceptions for it.
    code: Range<usize>,
    /// The address to which the Java method returns (`StubRoutines::_call_stub_return_address`).
    pub return_address: usize,
    layout: Layout,
}

impl CallStub {
    /// Finds the stub.
    pub fn find(tables: &Tables, memory: &impl Memory) -> Result<CallStub, Missing> {
        CallStub::of(Layout::find(tables)?, memory)
    }

    /// Finds the stub that has this layout.
    pub fn of(layout: Layout, memory: &impl Memory) -> Result<CallStub, Missing> {
        arch::WALKS?;
        const OTHER_FORM: Missing =
            Missing::Unexpected("the stub that calls Java methods has another form");
        let return_address = layout.return_address(memory).ok_or(OTHER_FORM)?;
        let start = (0..0x400)
            .map(|back| return_address.wrapping_sub(back))
            .find(|&start| Native::link_length(&memory.code(start)).is_some());
        let start = start.ok_or(OTHER_FORM)?;
        let end = end(memory, return_address).ok_or(OTHER_FORM)?;
        // The stub keeps its first argument, the wrapper, in its frame.
        let distance = layout.wrapper_slot(0);
        let keeps = |at: usize| arch::keeps_wrapper(memory.code(at), distance);
        if !(start..return_address).any(keeps) {
            return Err(Missing::Contradicted(WRAPPER_OFFSET));
        }
        Ok(CallStub {
            code: start..end,
            return_address,
            layout,
        })
    }

    /// The address of the wrapper in the frame with this frame pointer.
    pub fn wrapper_slot(&self, fp: usize) -> usize {
        self.layout.wrapper_slot(fp)
    }

    /// The anchor that the wrapper at `wrapper` keeps for the Java frames below it; `None` if there are none.
    pub fn wrapped_anchor(&self, memory: &impl Memory, wrapper: usize) -> Option<Anchor> {
        let anchor = self.layout.wrapped_anchor(memory, wrapper)?;
        (anchor.sp != 0).then_some(anchor)
    }

    /// The address of the wrapper while the stub itself runs; `None` if the stub does not run at
    /// `pc`.
    pub fn wrapper(
        &self,
        memory: &impl Memory,
        pc: usize,
        registers: &NativeRegisters,
    ) -> Option<usize> {
        if !self.code.contains(&pc) {
            return None;
        }
        if pc < self.return_address {
            // The wrapper is the first argument, and stays in its register up to the call.
            return registers.get(Native::ARGUMENT);
        }
        let fp = match Native::decode(&memory.code(pc))?.effect {
            // The frame is below the stack pointer, where a signal's frame may be.
            Effect::Return if Native::LINK.is_some() => return None,
            // The caller's frame pointer is already restored.
            Effect::Return => registers.get(Native::SP)?.wrapping_sub(size_of::<usize>()),
            _ => registers.get(Native::FP)?,
        };
        memory.word(self.wrapper_slot(fp))
    }
}

/// The end of the code that catches exceptions, which is behind the call.
fn end(memory: &impl Memory, return_address: usize) -> Option<usize> {
    let mut at = return_address;
    let mut returned = false;
    for _ in 0..128 {
        let instruction = Native::decode(&memory.code(at))?;
        at = at.wrapping_add(instruction.length);
        match instruction.effect {
            Effect::Return => returned = true,
            Effect::Jump(distance)
                if returned && at.wrapping_add_signed(distance as isize) == return_address =>
            {
                return Some(at);
            }
            _ => {}
        }
    }
    None
}
