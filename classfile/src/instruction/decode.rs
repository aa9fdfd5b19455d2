//! Decoding of the `code` array (JVMS 4.9, 6.5).

use super::length::{i4, measure, padding, u2};
use super::model::{Instruction, Operands};
use crate::error::Result;
use crate::operators::{Format, Opcode};

/// The instructions of a code array, in order.
#[derive(Clone, Debug)]
pub struct Instructions<'a> {
    code: &'a [u8],
    base: usize,
    bci: usize,
}

impl<'a> Instructions<'a> {
    /// The instructions of `code`, which starts `base` bytes into the file.
    pub fn new(code: &'a [u8], base: usize) -> Self {
        Self { code, base, bci: 0 }
    }

    /// The instructions from `bci` on.
    pub fn from(code: &'a [u8], base: usize, bci: usize) -> Self {
        Self { code, base, bci }
    }

    fn decode(&mut self) -> Result<Instruction<'a>> {
        let instruction = decode(self.code, self.bci, self.base)?;
        self.bci += instruction.length as usize;
        Ok(instruction)
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Result<Instruction<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bci >= self.code.len() {
            return None;
        }
        let item = self.decode();
        if item.is_err() {
            self.bci = self.code.len();
        }
        Some(item)
    }
}

/// The instruction at `bci` of `code`, which starts `base` bytes into the file. Panics if `bci` is
/// not in the code.
///
/// # Errors
/// If there is no opcode or if the code ends before the instruction does.
#[inline]
pub fn decode<'a>(code: &'a [u8], bci: usize, base: usize) -> Result<Instruction<'a>> {
    let (opcode, length) = measure(code, bci, base)?;
    let body = &code[bci..bci + length];
    // `measure` has checked that the operands are there.
    let short = |at: usize| u2(body, at).unwrap_or(0);
    let int = |at: usize| i4(body, at).unwrap_or(0);
    let instruction = |operands| Instruction {
        bci: bci as u32,
        length: length as u32,
        opcode,
        wide: false,
        operands,
    };
    Ok(instruction(match opcode.format() {
        Format::Plain | Format::Implied(_) => Operands::None,
        Format::Byte => Operands::Byte(body[1]),
        Format::Short => Operands::Short(short(1)),
        Format::Local => Operands::Local(u16::from(body[1])),
        Format::Increment => Operands::Increment(u16::from(body[1]), i16::from(body[2] as i8)),
        Format::NarrowConstant => Operands::Constant(u16::from(body[1])),
        Format::Constant => Operands::Constant(short(1)),
        Format::ConstantAnd1 => Operands::ConstantAnd1(short(1), body[3]),
        Format::ConstantAnd2 => Operands::ConstantAnd2(short(1), body[3], body[4]),
        Format::Branch => Operands::Branch(i32::from(short(1) as i16)),
        Format::WideBranch => Operands::Branch(int(1)),
        Format::Table => {
            let at = 1 + padding(bci);
            Operands::Table {
                padding: &body[1..at],
                default: int(at),
                low: int(at + 4),
                high: int(at + 8),
                offsets: &body[at + 12..],
            }
        }
        Format::Lookup => {
            let at = 1 + padding(bci);
            Operands::Lookup {
                padding: &body[1..at],
                default: int(at),
                pairs: &body[at + 8..],
            }
        }
        Format::Wide => {
            // `measure` has checked that `wide` can modify this opcode.
            let modified = Opcode::of(body[1]).unwrap_or(opcode);
            return Ok(Instruction {
                opcode: modified,
                wide: true,
                ..instruction(match modified.format() {
                    Format::Increment => Operands::Increment(short(2), short(4) as i16),
                    _ => Operands::Local(short(2)),
                })
            });
        }
    }))
}
