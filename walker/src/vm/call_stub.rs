//! The stub through which the VM calls Java methods (`StubGenerator::generate_call_stub`). Its
//! frame leads to the Java frames below the VM's frames.

use crate::vm::tables::Tables;
use hotspot::arch::{Effect, Follow, Native, NativeRegisters};
use hotspot::memory::Memory;
use hotspot::vm::fields::Fields;
use std::ops::Range;

/// The stub.
pub struct CallStub {
    /// Its code, and the code that catches exceptions for it.
    code: Range<usize>,
    /// The address to which the Java method returns (`StubRoutines::_call_stub_return_address`).
    pub return_address: usize,
    /// The place of the `JavaCallWrapper` in its frame, as a distance from the frame pointer.
    wrapper: isize,
}

impl CallStub {
    /// `None` if this VM's stub has another form.
    pub fn find(tables: &Tables, memory: &impl Memory) -> Option<CallStub> {
        let place = tables.field(&["StubRoutines"], "_call_stub_return_address")?;
        let return_address = memory.word(place)?;
        let words = tables.constant("frame::entry_frame_call_wrapper_offset")?;
        let start = (0..0x400)
            .map(|back| return_address.wrapping_sub(back))
            .find(|&start| Native::link_length(&memory.code(start)).is_some())?;
        Some(CallStub {
            code: start..end(memory, return_address)?,
            return_address,
            wrapper: words as isize * size_of::<usize>() as isize,
        })
    }

    /// The address of the wrapper in the frame with this frame pointer.
    pub fn wrapper_slot(&self, fp: usize) -> usize {
        fp.wrapping_add_signed(self.wrapper)
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
