//! The expressions of unwind tables, as far as compilers and linkers use them (DWARF 5, 2.5): in
//! the procedure linkage table, and in the frames of signal handlers.

use crate::arch::register;
use crate::c_frames::reader::Reader;
use hotspot::arch::NativeRegisters as Registers;
use hotspot::memory::Memory;

/// The value of the expression at `place`, which begins with its length, in code at `pc`. The stack
/// holds `first` at the start.
pub fn evaluate(
    memory: &impl Memory,
    place: usize,
    pc: usize,
    registers: &Registers,
    first: Option<usize>,
) -> Option<usize> {
    const MOST: usize = 64;
    let mut reader = Reader::new(memory, place);
    let length = reader.uleb()?;
    let end = reader.at.wrapping_add(length);
    let mut stack = Stack::default();
    if let Some(first) = first {
        stack.push(first)?;
    }
    for _ in 0..MOST {
        if reader.at >= end {
            return stack.pop();
        }
        let opcode = reader.u8()?;
        let value = match opcode {
            // deref
            0x06 => memory.word(stack.pop()?)?,
            // const1u, const1s, const2u, const2s, const4u, const4s, constu, consts
            0x08 => reader.u8()?.into(),
            0x09 => reader.u8()?.cast_signed() as usize,
            0x0a => reader.u16()?.into(),
            0x0b => reader.u16()?.cast_signed() as usize,
            0x0c => reader.u32()? as usize,
            0x0d => reader.u32()?.cast_signed() as usize,
            0x10 => reader.uleb()?,
            0x11 => reader.sleb()?.cast_unsigned(),
            // dup
            0x12 => {
                let top = stack.pop()?;
                stack.push(top)?;
                top
            }
            // and, minus, or, plus
            0x1a => stack.pop()? & stack.pop()?,
            0x1c => {
                let top = stack.pop()?;
                stack.pop()?.wrapping_sub(top)
            }
            0x21 => stack.pop()? | stack.pop()?,
            0x22 => stack.pop()?.wrapping_add(stack.pop()?),
            // plus_uconst
            0x23 => stack.pop()?.wrapping_add(reader.uleb()?),
            // shl
            0x24 => {
                let shift = u32::try_from(stack.pop()?).ok()?;
                stack.pop()?.checked_shl(shift).unwrap_or(0)
            }
            // ge
            0x2a => {
                let top = stack.pop()?.cast_signed();
                usize::from(stack.pop()?.cast_signed() >= top)
            }
            0x30..=0x4f => usize::from(opcode - 0x30),
            0x70..=0x80 => {
                let distance = reader.sleb()?;
                let base = match opcode {
                    0x80 => pc,
                    _ => registers.get(register(usize::from(opcode - 0x70))?)?,
                };
                base.wrapping_add_signed(distance)
            }
            _ => return None,
        };
        stack.push(value)?;
    }
    None
}

#[derive(Default)]
struct Stack {
    words: [usize; 8],
    depth: usize,
}

impl Stack {
    fn push(&mut self, word: usize) -> Option<()> {
        *self.words.get_mut(self.depth)? = word;
        self.depth += 1;
        Some(())
    }

    fn pop(&mut self) -> Option<usize> {
        self.depth = self.depth.checked_sub(1)?;
        self.words.get(self.depth).copied()
    }
}
