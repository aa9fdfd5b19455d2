//! The places of the caller's registers, at one instruction of a function (DWARF 5, 6.4.2).

use crate::arch::{REGISTERS, RETURN_ADDRESS, STACK_POINTER, register};
use crate::c_frames::expression;
use crate::c_frames::reader::Reader;
use crate::c_frames::table::Entry;
use hotspot::arch::NativeRegisters as Registers;
use hotspot::arch::{Arch, Follow, Native};
use hotspot::memory::Memory;
use std::ops::Range;

/// How many registers have rules: the return address may be the last.
const RULES: usize = if RETURN_ADDRESS < REGISTERS {
    REGISTERS
} else {
    RETURN_ADDRESS + 1
};

/// The place of a register of the caller.
#[derive(Copy, Clone, Debug)]
enum Rule {
    /// The register still has its value.
    Same,
    /// The value is lost.
    Undefined,
    /// At this distance from the frame's address.
    Offset(isize),
    /// The value is this distance from the frame's address.
    Value(isize),
    /// In another register.
    Register(usize),
    /// At the address that an expression computes.
    Expression(usize),
    /// The value that an expression computes.
    ValueExpression(usize),
}

/// How the frame's address is computed.
#[derive(Copy, Clone, Debug)]
enum Base {
    Register(usize, isize),
    Expression(usize),
}

/// The rules at one instruction.
#[derive(Copy, Clone, Debug)]
pub struct Rules {
    pc: usize,
    base: Base,
    registers: [Rule; RULES],
}

/// The rules of `entry` at `pc`.
pub fn at(memory: &impl Memory, entry: &Entry, pc: usize) -> Option<Rules> {
    let start = Rules {
        pc,
        base: Base::Register(STACK_POINTER, 8),
        registers: [Rule::Same; RULES],
    };
    let mut machine = Machine {
        memory,
        entry,
        at: entry.code.start,
        initial: start,
        rules: start,
        remembered: [start; 8],
        depth: 0,
    };
    machine.run(entry.common.clone())?;
    machine.initial = machine.rules;
    machine.run(entry.own.clone())?;
    Some(machine.rules)
}

impl Rules {
    fn base(&self, memory: &impl Memory, registers: &Registers) -> Option<usize> {
        match self.base {
            Base::Register(number, distance) => Some(
                registers
                    .get(register(number)?)?
                    .wrapping_add_signed(distance),
            ),
            Base::Expression(place) => {
                expression::evaluate(memory, place, self.pc, registers, None)
            }
        }
    }

    fn value(
        &self,
        memory: &impl Memory,
        registers: &Registers,
        base: usize,
        number: usize,
    ) -> Option<usize> {
        let of = |number| registers.get(register(number)?);
        let compute = |place| expression::evaluate(memory, place, self.pc, registers, Some(base));
        match *self.registers.get(number)? {
            Rule::Same => of(number),
            Rule::Undefined => None,
            Rule::Offset(distance) => memory.word(base.wrapping_add_signed(distance)),
            Rule::Value(distance) => Some(base.wrapping_add_signed(distance)),
            Rule::Register(other) => of(other),
            Rule::Expression(place) => memory.word(compute(place)?),
            Rule::ValueExpression(place) => compute(place),
        }
    }

    /// The caller's registers.
    pub fn caller(&self, memory: &impl Memory, registers: &Registers) -> Option<Registers> {
        let base = self.base(memory, registers)?;
        let mut caller = Registers::UNKNOWN;
        for number in 0..REGISTERS {
            let value = self.value(memory, registers, base, number);
            caller.set(register(number)?, value);
        }
        // Without a rule, the stack pointer is the frame's address, which is behind the return
        // address.
        if matches!(self.registers[STACK_POINTER], Rule::Same) {
            caller.set(Native::SP, Some(base));
        }
        // The call wrote the link register: where the caller returns to is in its frame.
        if let Some(link) = Native::LINK {
            caller.set(link, None);
        }
        Some(caller)
    }

    /// Where the caller continues.
    pub fn return_address(&self, memory: &impl Memory, registers: &Registers) -> Option<usize> {
        let base = self.base(memory, registers)?;
        let word = self.value(memory, registers, base, RETURN_ADDRESS)?;
        Some(Native::strip(word))
    }
}

struct Machine<'a, M> {
    memory: &'a M,
    entry: &'a Entry,
    /// The instruction to which the rules now belong.
    at: usize,
    initial: Rules,
    rules: Rules,
    remembered: [Rules; 8],
    depth: usize,
}

impl<M: Memory> Machine<'_, M> {
    /// Runs instructions until the rules are those at the pc.
    fn run(&mut self, instructions: Range<usize>) -> Option<()> {
        const MOST: usize = 1 << 12;
        let mut reader = Reader::new(self.memory, instructions.start);
        for _ in 0..MOST {
            if reader.at >= instructions.end {
                return Some(());
            }
            let opcode = reader.u8()?;
            let low = usize::from(opcode & 0x3f);
            let advance = match opcode {
                0x40..=0x7f => low,
                0x80..=0xbf => {
                    let distance = self.scaled(reader.uleb()?);
                    self.set(low, Rule::Offset(distance));
                    continue;
                }
                0xc0..=0xff => {
                    self.restore(low);
                    continue;
                }
                0x02 => reader.u8()?.into(),
                0x03 => reader.u16()?.into(),
                0x04 => reader.u32()? as usize,
                _ => {
                    self.other(opcode, &mut reader)?;
                    continue;
                }
            };
            self.at = self
                .at
                .wrapping_add(advance.wrapping_mul(self.entry.code_factor));
            if self.at > self.rules.pc {
                return Some(());
            }
        }
        None
    }

    fn other(&mut self, opcode: u8, reader: &mut Reader<'_, M>) -> Option<()> {
        match opcode {
            0x00 => {}
            0x05 => {
                let (number, distance) = (reader.uleb()?, reader.uleb()?);
                self.set(number, Rule::Offset(self.scaled(distance)));
            }
            0x06 => self.restore(reader.uleb()?),
            0x07 => self.set(reader.uleb()?, Rule::Undefined),
            0x08 => self.set(reader.uleb()?, Rule::Same),
            0x09 => self.set(reader.uleb()?, Rule::Register(reader.uleb()?)),
            0x0a => {
                *self.remembered.get_mut(self.depth)? = self.rules;
                self.depth += 1;
            }
            0x0b => {
                self.depth = self.depth.checked_sub(1)?;
                self.rules = *self.remembered.get(self.depth)?;
            }
            0x0c => self.rules.base = Base::Register(reader.uleb()?, reader.uleb()?.cast_signed()),
            0x0d => self.rules.base = Base::Register(reader.uleb()?, self.distance()?),
            0x0e => {
                let distance = reader.uleb()?.cast_signed();
                self.rules.base = Base::Register(self.number()?, distance);
            }
            0x0f => self.rules.base = Base::Expression(self.block(reader)?),
            0x10 => self.set(reader.uleb()?, Rule::Expression(self.block(reader)?)),
            0x11 => {
                let (number, distance) = (reader.uleb()?, reader.sleb()?);
                let distance = distance.wrapping_mul(self.entry.data_factor);
                self.set(number, Rule::Offset(distance));
            }
            0x12 => {
                let (number, distance) = (reader.uleb()?, reader.sleb()?);
                let distance = distance.wrapping_mul(self.entry.data_factor);
                self.rules.base = Base::Register(number, distance);
            }
            0x13 => {
                let distance = reader.sleb()?.wrapping_mul(self.entry.data_factor);
                self.rules.base = Base::Register(self.number()?, distance);
            }
            0x14 => {
                let (number, distance) = (reader.uleb()?, reader.uleb()?);
                self.set(number, Rule::Value(self.scaled(distance)));
            }
            0x16 => self.set(reader.uleb()?, Rule::ValueExpression(self.block(reader)?)),
            // DW_CFA_AARCH64_negate_ra_state: whether the return address is signed does not matter.
            0x2d if Native::LINK.is_some() => {}
            // DW_CFA_GNU_args_size says nothing about registers.
            0x2e => {
                reader.uleb()?;
            }
            _ => return None,
        }
        Some(())
    }

    fn scaled(&self, distance: usize) -> isize {
        distance.cast_signed().wrapping_mul(self.entry.data_factor)
    }

    fn set(&mut self, number: usize, rule: Rule) {
        // Vector registers are not needed.
        if let Some(register) = self.rules.registers.get_mut(number) {
            *register = rule;
        }
    }

    fn restore(&mut self, number: usize) {
        if let Some(&rule) = self.initial.registers.get(number) {
            self.set(number, rule);
        }
    }

    fn number(&self) -> Option<usize> {
        match self.rules.base {
            Base::Register(number, _) => Some(number),
            Base::Expression(_) => None,
        }
    }

    fn distance(&self) -> Option<isize> {
        match self.rules.base {
            Base::Register(_, distance) => Some(distance),
            Base::Expression(_) => None,
        }
    }

    /// The place of an expression.
    fn block(&self, reader: &mut Reader<'_, M>) -> Option<usize> {
        let place = reader.at;
        let length = reader.uleb()?;
        reader.skip(length);
        Some(place)
    }
}
