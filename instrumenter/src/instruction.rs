//! Decoding of the `code` array (JVMS 4.9, 6.5).

use crate::error::{Malformed, Result};
use crate::opcode::{self as op, LENGTH, VARIABLE};

const CUT: &str = "JVMS 4.9.1: the last instruction ends where the code array ends";

/// What follows an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands<'a> {
    /// Nothing.
    None,
    /// `bipush`, `newarray`: one byte as it is.
    Byte(u8),
    /// `sipush`: two bytes as they are.
    Short(u16),
    /// A local variable; `wide` instructions carry the modified opcode.
    Local(u16),
    /// `iinc`: local variable and amount.
    Increment(u16, i16),
    /// An index into the constant pool; `ldc` has one byte of it in the file.
    Pool(u16),
    /// An index into the constant pool and two bytes: the count and the zero of `invokeinterface`,
    /// the zeros of `invokedynamic`.
    PoolAnd2(u16, u8, u8),
    /// `multianewarray`: class and dimensions.
    PoolAnd1(u16, u8),
    /// Offset of a branch, relative to its instruction.
    Branch(i32),
    /// A `tableswitch`.
    Table {
        /// Padding bytes as they are.
        padding: &'a [u8],
        /// Offset of the default branch.
        default: i32,
        /// Smallest key.
        low: i32,
        /// Largest key.
        high: i32,
        /// The offsets, four bytes each.
        offsets: &'a [u8],
    },
    /// A `lookupswitch`.
    Lookup {
        /// Padding bytes as they are.
        padding: &'a [u8],
        /// Offset of the default branch.
        default: i32,
        /// Keys and offsets, eight bytes a pair.
        pairs: &'a [u8],
    },
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// Where it starts in the code array.
    pub bci: u32,
    /// Its length in bytes.
    pub length: u32,
    /// Its opcode; for a `wide` instruction the one that is modified.
    pub opcode: u8,
    /// It has the `wide` prefix.
    pub wide: bool,
    /// Its operands.
    pub operands: Operands<'a>,
}

#[inline]
pub(crate) fn i4(code: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_be_bytes(*code.get(at..)?.first_chunk()?))
}

#[inline]
pub(crate) fn u2(code: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*code.get(at..)?.first_chunk()?))
}

/// Number of padding bytes after the opcode of a switch at `bci`.
#[inline]
pub(crate) fn padding(bci: usize) -> usize {
    3 - (bci & 3)
}

/// Length of the instruction at `bci`, checked to lie within `code`.
/// `base` is the offset of the code array in the file.
#[inline]
pub(crate) fn length(code: &[u8], bci: usize, base: usize) -> Result<usize> {
    let n = LENGTH[code[bci] as usize];
    let n = if n == VARIABLE || n == 0 {
        variable_length(code, bci, base)?
    } else {
        n as usize
    };
    if n > code.len() - bci {
        return Err(Malformed {
            offset: base + bci,
            rule: CUT,
        });
    }
    Ok(n)
}

#[cold]
fn variable_length(code: &[u8], bci: usize, base: usize) -> Result<usize> {
    let bad = |rule| Malformed {
        offset: base + bci,
        rule,
    };
    let cut = || bad(CUT);
    let at = bci + 1 + padding(bci);
    match code[bci] {
        op::WIDE => match code.get(bci + 1).ok_or_else(cut)? {
            &op::IINC => Ok(6),
            op::ILOAD..=op::ALOAD | op::ISTORE..=op::ASTORE | &op::RET => Ok(4),
            _ => Err(bad(
                "JVMS 6.5.wide: wide modifies loads, stores, ret and iinc only",
            )),
        },
        op::TABLESWITCH => {
            let low = i64::from(i4(code, at + 4).ok_or_else(cut)?);
            let high = i64::from(i4(code, at + 8).ok_or_else(cut)?);
            if low > high {
                return Err(bad("JVMS 4.9.1: low of a tableswitch is at most high"));
            }
            usize::try_from((at - bci) as i64 + 12 + (high - low + 1) * 4).map_err(|_| cut())
        }
        op::LOOKUPSWITCH => {
            let n = i64::from(i4(code, at + 4).ok_or_else(cut)?);
            if n < 0 {
                return Err(bad("JVMS 4.9.1: npairs of a lookupswitch is at least 0"));
            }
            usize::try_from((at - bci) as i64 + 8 + n * 8).map_err(|_| cut())
        }
        _ => Err(bad(
            "JVMS 4.9.1: only the opcodes of JVMS 6.5 stand in the code array",
        )),
    }
}

/// The instructions of a code array, in order.
#[derive(Clone, Debug)]
pub struct Instructions<'a> {
    code: &'a [u8],
    base: usize,
    bci: usize,
}

impl<'a> Instructions<'a> {
    /// Of `code`, which starts `base` bytes into the file.
    pub fn new(code: &'a [u8], base: usize) -> Self {
        Self { code, base, bci: 0 }
    }

    /// From the instruction at `bci` on.
    pub(crate) fn from(code: &'a [u8], base: usize, bci: usize) -> Self {
        Self { code, base, bci }
    }

    fn decode(&mut self) -> Result<Instruction<'a>> {
        let (code, bci) = (self.code, self.bci);
        let n = length(code, bci, self.base)?;
        let body = &code[bci..bci + n];
        let opcode = body[0];
        // `length` has seen that the operands are there.
        let short = |at: usize| u2(body, at).unwrap_or(0);
        let int = |at: usize| i4(body, at).unwrap_or(0);
        let operands = match opcode {
            op::BIPUSH | op::NEWARRAY => Operands::Byte(body[1]),
            op::SIPUSH => Operands::Short(short(1)),
            op::LDC => Operands::Pool(u16::from(body[1])),
            op::ILOAD..=op::ALOAD | op::ISTORE..=op::ASTORE | op::RET => {
                Operands::Local(u16::from(body[1]))
            }
            op::IINC => Operands::Increment(u16::from(body[1]), i16::from(body[2] as i8)),
            op::IFEQ..=op::JSR | op::IFNULL | op::IFNONNULL => {
                Operands::Branch(i32::from(short(1) as i16))
            }
            op::GOTO_W | op::JSR_W => Operands::Branch(int(1)),
            op::LDC_W
            | op::LDC2_W
            | op::GETSTATIC..=op::INVOKESTATIC
            | op::NEW
            | op::ANEWARRAY
            | op::CHECKCAST
            | op::INSTANCEOF => Operands::Pool(short(1)),
            op::INVOKEINTERFACE | op::INVOKEDYNAMIC => {
                Operands::PoolAnd2(short(1), body[3], body[4])
            }
            op::MULTIANEWARRAY => Operands::PoolAnd1(short(1), body[3]),
            op::WIDE => {
                let operands = if body[1] == op::IINC {
                    Operands::Increment(short(2), short(4) as i16)
                } else {
                    Operands::Local(short(2))
                };
                self.bci += n;
                return Ok(Instruction {
                    bci: bci as u32,
                    length: n as u32,
                    opcode: body[1],
                    wide: true,
                    operands,
                });
            }
            op::TABLESWITCH | op::LOOKUPSWITCH => {
                let at = 1 + padding(bci);
                let padding = &body[1..at];
                if opcode == op::TABLESWITCH {
                    Operands::Table {
                        padding,
                        default: int(at),
                        low: int(at + 4),
                        high: int(at + 8),
                        offsets: &body[at + 12..],
                    }
                } else {
                    Operands::Lookup {
                        padding,
                        default: int(at),
                        pairs: &body[at + 8..],
                    }
                }
            }
            _ => Operands::None,
        };
        self.bci += n;
        Ok(Instruction {
            bci: bci as u32,
            length: n as u32,
            opcode,
            wide: false,
            operands,
        })
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

impl Instruction<'_> {
    /// Writes the instruction as it was read.
    pub fn write(&self, out: &mut Vec<u8>) {
        if self.wide {
            out.push(op::WIDE);
        }
        out.push(self.opcode);
        match self.operands {
            Operands::None => {}
            Operands::Byte(b) => out.push(b),
            Operands::Short(s) => out.extend_from_slice(&s.to_be_bytes()),
            Operands::Local(n) if self.wide => out.extend_from_slice(&n.to_be_bytes()),
            Operands::Local(n) => out.push(n as u8),
            Operands::Increment(n, by) if self.wide => {
                out.extend_from_slice(&n.to_be_bytes());
                out.extend_from_slice(&by.to_be_bytes());
            }
            Operands::Increment(n, by) => out.extend_from_slice(&[n as u8, by as u8]),
            Operands::Pool(n) if self.opcode == op::LDC => out.push(n as u8),
            Operands::Pool(n) => out.extend_from_slice(&n.to_be_bytes()),
            Operands::PoolAnd2(n, a, b) => {
                out.extend_from_slice(&n.to_be_bytes());
                out.extend_from_slice(&[a, b]);
            }
            Operands::PoolAnd1(n, a) => {
                out.extend_from_slice(&n.to_be_bytes());
                out.push(a);
            }
            Operands::Branch(by) if self.length == 5 => out.extend_from_slice(&by.to_be_bytes()),
            Operands::Branch(by) => out.extend_from_slice(&(by as i16).to_be_bytes()),
            Operands::Table {
                padding,
                default,
                low,
                high,
                offsets,
            } => {
                out.extend_from_slice(padding);
                out.extend_from_slice(&default.to_be_bytes());
                out.extend_from_slice(&low.to_be_bytes());
                out.extend_from_slice(&high.to_be_bytes());
                out.extend_from_slice(offsets);
            }
            Operands::Lookup {
                padding,
                default,
                pairs,
            } => {
                out.extend_from_slice(padding);
                out.extend_from_slice(&default.to_be_bytes());
                out.extend_from_slice(&((pairs.len() / 8) as i32).to_be_bytes());
                out.extend_from_slice(pairs);
            }
        }
    }
}
