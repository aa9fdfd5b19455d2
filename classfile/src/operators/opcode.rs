//! Opcodes, with answers from the table of operators.

use super::effect::Effect;
use super::flow::Flow;
use super::format::Format;
use super::table::{ALL, OPERATORS, Opcode, Operator};

/// The entry of [`LENGTHS`] for opcodes that do not determine the length.
const VARIABLE: u8 = 0;

// Arrays by opcode, because the code of whole JDKs is read with them: a look-up is one load.
static OF_BYTE: [Option<Opcode>; 256] = {
    let mut all = [None; 256];
    let mut byte = 0;
    while byte < ALL.len() {
        all[byte] = Some(ALL[byte]);
        byte += 1;
    }
    all
};
static LENGTHS: [u8; 256] = {
    let mut all = [VARIABLE; 256];
    let mut byte = 0;
    while byte < ALL.len() {
        if let Some(length) = OPERATORS[byte].format.length() {
            all[byte] = length;
        }
        byte += 1;
    }
    all
};
static FORMATS: [Format; 256] = {
    let mut all = [Format::Plain; 256];
    let mut byte = 0;
    while byte < ALL.len() {
        all[byte] = OPERATORS[byte].format;
        byte += 1;
    }
    all
};
static FLOWS: [Flow; 256] = {
    let mut all = [Flow::Next; 256];
    let mut byte = 0;
    while byte < ALL.len() {
        all[byte] = OPERATORS[byte].flow;
        byte += 1;
    }
    all
};

impl Opcode {
    /// The opcode with this byte, if there is one. The opcodes that JVMS 6.2 reserves are in no
    /// class file.
    #[inline]
    pub fn of(byte: u8) -> Option<Opcode> {
        OF_BYTE[usize::from(byte)]
    }

    /// All opcodes, in the order of their bytes.
    pub fn all() -> impl Iterator<Item = Opcode> {
        ALL.into_iter()
    }

    /// Its byte.
    #[inline]
    pub const fn byte(self) -> u8 {
        self as u8
    }

    #[inline]
    fn row(self) -> &'static Operator {
        &OPERATORS[usize::from(self.byte())]
    }

    /// Its mnemonic, as the JVMS and `javap` write it.
    pub fn mnemonic(self) -> &'static str {
        self.row().mnemonic
    }

    /// The operands behind it in the code array.
    #[inline]
    pub fn format(self) -> Format {
        FORMATS[usize::from(self.byte())]
    }

    /// Its effect on the operand stack.
    #[inline]
    pub fn effect(self) -> Effect {
        self.row().effect
    }

    /// Where the thread continues after it.
    #[inline]
    pub fn flow(self) -> Flow {
        FLOWS[usize::from(self.byte())]
    }

    /// Whether the instruction itself may throw.
    #[inline]
    pub fn throws(self) -> bool {
        self.row().throws
    }

    /// Length in bytes of its instruction without `wide`; `None` for switches and `wide`, because
    /// the opcode alone does not determine their length.
    #[inline]
    pub fn length(self) -> Option<usize> {
        match LENGTHS[usize::from(self.byte())] {
            VARIABLE => None,
            length => Some(usize::from(length)),
        }
    }

    /// The conditional branch with the opposite condition; `None` for other opcodes.
    pub fn opposite(self) -> Option<Opcode> {
        const PAIRS: [(Opcode, Opcode); 8] = [
            (Opcode::Ifeq, Opcode::Ifne),
            (Opcode::Iflt, Opcode::Ifge),
            (Opcode::Ifgt, Opcode::Ifle),
            (Opcode::IfIcmpeq, Opcode::IfIcmpne),
            (Opcode::IfIcmplt, Opcode::IfIcmpge),
            (Opcode::IfIcmpgt, Opcode::IfIcmple),
            (Opcode::IfAcmpeq, Opcode::IfAcmpne),
            (Opcode::Ifnull, Opcode::Ifnonnull),
        ];
        PAIRS.into_iter().find_map(|(one, other)| match self {
            _ if self == one => Some(other),
            _ if self == other => Some(one),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_stands_at_its_byte() {
        for (byte, opcode) in ALL.into_iter().enumerate() {
            assert_eq!(usize::from(opcode.byte()), byte);
            assert_eq!(Opcode::of(opcode.byte()), Some(opcode));
        }
        assert_eq!(Opcode::of(202), None);
    }

    #[test]
    fn names_are_mnemonics() {
        for opcode in Opcode::all() {
            let name = format!("{opcode:?}").to_lowercase();
            assert_eq!(name, opcode.mnemonic().replace('_', ""));
        }
    }

    #[test]
    fn just_conditional_branches_have_opposites() {
        for opcode in Opcode::all() {
            let opposite = opcode.opposite();
            assert_eq!(opposite.is_some(), opcode.flow() == Flow::Conditional);
            if let Some(opposite) = opposite {
                assert_ne!(opposite, opcode);
                assert_eq!(opposite.opposite(), Some(opcode));
                assert_eq!(opposite.effect(), opcode.effect());
            }
        }
    }
}
