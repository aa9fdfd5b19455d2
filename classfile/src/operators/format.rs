//! The operands behind an opcode in the code array.

/// The operands of an operator, as JVMS 6.5 lays them out ("Format").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// No operands.
    Plain,
    /// No operands: the mnemonic itself names this local variable.
    Implied(u8),
    /// One byte: a number, or the element type of `newarray`.
    Byte,
    /// Two bytes: a number.
    Short,
    /// One byte: a local variable.
    Local,
    /// Two bytes: a local variable, and its increment.
    Increment,
    /// One byte: an index into the constant pool.
    NarrowConstant,
    /// Two bytes: an index into the constant pool.
    Constant,
    /// Two bytes of index into the constant pool, and one more: dimensions.
    ConstantAnd1,
    /// Two bytes of index into the constant pool, and two more: a count and a zero, or zeros.
    ConstantAnd2,
    /// Two bytes: the offset of a branch.
    Branch,
    /// Four bytes: the offset of a branch.
    WideBranch,
    /// A `tableswitch`.
    Table,
    /// A `lookupswitch`.
    Lookup,
    /// `wide`: another opcode, with operands twice as long.
    Wide,
}

impl Format {
    /// Length in bytes of the whole instruction; `None` if the opcode alone does not determine the
    /// length.
    pub const fn length(self) -> Option<u8> {
        Some(match self {
            Format::Plain | Format::Implied(_) => 1,
            Format::Byte | Format::Local | Format::NarrowConstant => 2,
            Format::Short | Format::Increment | Format::Constant | Format::Branch => 3,
            Format::ConstantAnd1 => 4,
            Format::ConstantAnd2 | Format::WideBranch => 5,
            Format::Table | Format::Lookup | Format::Wide => return None,
        })
    }
}
