//! An instruction, decoded.

use crate::operators::{Format, Opcode};

/// The operands behind an opcode.
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
    /// An index into the constant pool. `ldc` has one byte for the index in the file.
    Constant(u16),
    /// An index into the constant pool and two bytes: the count and the zero of `invokeinterface`,
    /// the zeros of `invokedynamic`.
    ConstantAnd2(u16, u8, u8),
    /// `multianewarray`: class and dimensions.
    ConstantAnd1(u16, u8),
    /// Offset of a branch, relative to its instruction.
    Branch(i32),
    /// A `tableswitch`.
    Table {
        /// The padding bytes.
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
        /// The padding bytes.
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
    /// Its opcode; for a `wide` instruction the modified opcode.
    pub opcode: Opcode,
    /// Whether it has the `wide` prefix.
    pub wide: bool,
    /// Its operands.
    pub operands: Operands<'a>,
}

impl<'a> Instruction<'a> {
    /// The index into the constant pool, if it has one.
    pub fn constant(&self) -> Option<u16> {
        match self.operands {
            Operands::Constant(index)
            | Operands::ConstantAnd1(index, _)
            | Operands::ConstantAnd2(index, ..) => Some(index),
            _ => None,
        }
    }

    /// The local variable of the instruction, from its operands or its mnemonic.
    pub fn local(&self) -> Option<u16> {
        match (self.operands, self.opcode.format()) {
            (Operands::Local(local) | Operands::Increment(local, _), _) => Some(local),
            (_, Format::Implied(local)) => Some(u16::from(local)),
            _ => None,
        }
    }

    /// The targets of the instruction, if its offsets lead into the code. The default target of a
    /// switch comes first.
    pub fn targets(&self) -> impl Iterator<Item = u32> + use<'a> {
        let (first, entries, size): (Option<i32>, &'a [u8], usize) = match self.operands {
            Operands::Branch(by) => (Some(by), &[], 4),
            Operands::Table {
                default, offsets, ..
            } => (Some(default), offsets, 4),
            Operands::Lookup { default, pairs, .. } => (Some(default), pairs, 8),
            _ => (None, &[], 4),
        };
        // An entry's last four bytes are its offset.
        let offset = |entry: &[u8]| entry.last_chunk().map_or(0, |b| i32::from_be_bytes(*b));
        let others = entries.chunks_exact(size).map(offset);
        let bci = self.bci as i32;
        let target = move |by: i32| bci.wrapping_add(by) as u32;
        first.into_iter().chain(others).map(target)
    }

    /// Writes the instruction as it was read.
    pub fn write(&self, out: &mut Vec<u8>) {
        if self.wide {
            out.push(Opcode::Wide.byte());
        }
        out.push(self.opcode.byte());
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
            Operands::Constant(n) if self.opcode == Opcode::Ldc => out.push(n as u8),
            Operands::Constant(n) => out.extend_from_slice(&n.to_be_bytes()),
            Operands::ConstantAnd2(n, a, b) => {
                out.extend_from_slice(&n.to_be_bytes());
                out.extend_from_slice(&[a, b]);
            }
            Operands::ConstantAnd1(n, a) => {
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
