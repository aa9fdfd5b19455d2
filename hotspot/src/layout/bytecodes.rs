//! Bytecode as the VM keeps it: the interpreter replaces some instructions by its own
//! (`share/interpreter/bytecodes.hpp`).

use super::fields::Fields;
use crate::memory::Memory;
use classfile::instruction::padding;
use classfile::operators::{Effect, Flow, Format, Opcode};
use std::ops::Range;

/// `_fast_agetfield`.
const FIRST_OF_VM: u8 = 203;

/// `Bytecodes::Code` from `_fast_agetfield` on: for each, the opcode that class files have there.
const OF_VM: [u8; 35] = {
    const GETFIELD: u8 = 180;
    const PUTFIELD: u8 = 181;
    const ILOAD: u8 = 21;
    const ALOAD_0: u8 = 42;
    [
        GETFIELD, GETFIELD, GETFIELD, GETFIELD, GETFIELD, GETFIELD, GETFIELD,
        GETFIELD, // _fast_agetfield..
        PUTFIELD, PUTFIELD, PUTFIELD, PUTFIELD, PUTFIELD, PUTFIELD, PUTFIELD, PUTFIELD,
        PUTFIELD, // _fast_aputfield..
        ALOAD_0, ALOAD_0, ALOAD_0,
        ALOAD_0, // _fast_aload_0, and with the getfield that follows
        ILOAD, ILOAD, ILOAD, // _fast_iload, and with the instruction that follows
        182,   // _fast_invokevfinal: invokevirtual
        171, 171, // _fast_linearswitch, _fast_binaryswitch: lookupswitch
        18, 19,  // _fast_aldc, _fast_aldc_w
        177, // _return_register_finalizer
        182, // _invokehandle: invokevirtual
        GETFIELD, PUTFIELD, ALOAD_0, ILOAD, // _nofast_getfield..
    ]
};

/// The opcodes of the VM itself: which of them there are depends on the VM.
#[derive(Copy, Clone, Debug, Default)]
pub struct VmOpcodes {
    /// Whether there are `_fast_vgetfield` and `_fast_vputfield`, for fields that contain the fields of a value object.
    has_flat_fields: bool,
}

impl VmOpcodes {
    /// The opcodes of this VM.
    pub fn find(fields: &impl Fields) -> VmOpcodes {
        // The VM does not publish its opcodes. It has the two if it has value classes (JEP 401, JDK 28), and publishes their types.
        VmOpcodes {
            has_flat_fields: fields.find_size("FlatArrayKlass").is_some(),
        }
    }

    /// The opcode that class files have where the VM has `byte`.
    fn java_opcode(self, byte: u8) -> Option<u8> {
        // `_fast_vgetfield` follows `_fast_agetfield`, and `_fast_vputfield` follows `_fast_aputfield`, the opcodes 203 and 212.
        const FAST_VGETFIELD: u8 = 204;
        const FAST_VPUTFIELD: u8 = 213;
        let Some(index) = byte.checked_sub(FIRST_OF_VM) else {
            return Some(byte);
        };
        let added = if self.has_flat_fields {
            u8::from(byte >= FAST_VGETFIELD) + u8::from(byte >= FAST_VPUTFIELD)
        } else {
            0
        };
        OF_VM.get(usize::from(index - added)).copied()
    }
}

/// The bytecode of a method.
#[derive(Copy, Clone, Debug)]
pub struct Bytecode {
    /// Its address.
    pub start: usize,
    /// Its length in bytes.
    pub size: u16,
    /// The opcodes of the VM itself that it may have.
    pub opcodes: VmOpcodes,
}

/// What the instructions of a part of a method may do.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Does {
    /// One of them calls a method, which a compiler may inline.
    pub calls: bool,
    /// One of them may continue elsewhere than in this part or right behind it.
    pub leaves: bool,
}

impl Bytecode {
    /// Whether an instruction of the method calls another method. `None` if the bytecode is not understood, at a breakpoint of a
    /// debugger for example.
    pub fn calls(&self, memory: &impl Memory) -> Option<bool> {
        Some(self.does(memory, 0..self.size)?.calls)
    }

    /// What the instructions do that begin in `part`. `None` as in [`Bytecode::calls`].
    pub fn does(&self, memory: &impl Memory, part: Range<u16>) -> Option<Does> {
        let mut does = Does::default();
        let mut bci = 0;
        while bci < self.size {
            let byte = memory.u8(self.at(bci))?;
            let opcode = Opcode::of(self.opcodes.java_opcode(byte)?)?;
            if part.contains(&bci) {
                does.calls |= matches!(opcode.effect(), Effect::Invoke(_));
                does.leaves |= match opcode.flow() {
                    Flow::Next => false,
                    Flow::Conditional | Flow::Jump => {
                        let target = self.target(memory, opcode, bci)?;
                        target < i32::from(part.start) || target > i32::from(part.end)
                    }
                    Flow::Subroutine | Flow::Switch | Flow::Return | Flow::Throw => true,
                };
            }
            let length = match opcode.length() {
                Some(length) => length,
                None => self.variable_length(memory, opcode, bci)?,
            };
            bci = bci.checked_add(u16::try_from(length).ok()?)?;
        }
        (bci == self.size).then_some(does)
    }

    /// The target of the branch at `bci`.
    fn target(&self, memory: &impl Memory, opcode: Opcode, bci: u16) -> Option<i32> {
        let operand = self.at(bci).wrapping_add(1);
        let by = match opcode.format() {
            Format::WideBranch => i32::from_be_bytes(memory.u32(operand)?.to_ne_bytes()),
            _ => i16::from_be_bytes(memory.u16(operand)?.to_ne_bytes()).into(),
        };
        i32::from(bci).checked_add(by)
    }

    fn at(&self, bci: u16) -> usize {
        self.start.wrapping_add(bci.into())
    }

    /// The length of the instruction at `bci`: a switch, or one with `wide`.
    fn variable_length(&self, memory: &impl Memory, opcode: Opcode, bci: u16) -> Option<usize> {
        let bci = usize::from(bci);
        let padding = padding(bci);
        let number = |at: usize| {
            let at = self.start.wrapping_add(bci + 1 + padding + at);
            Some(i32::from_be_bytes(memory.u32(at)?.to_ne_bytes()))
        };
        match opcode.format() {
            Format::Table => {
                let (low, high) = (number(4)?, number(8)?);
                let count = usize::try_from(high.checked_sub(low)?.checked_add(1)?).ok()?;
                Some(1 + padding + 12 + 4 * count)
            }
            Format::Lookup => Some(1 + padding + 8 + 8 * usize::try_from(number(4)?).ok()?),
            _ => {
                let modified = Opcode::of(memory.u8(self.start.wrapping_add(bci + 1))?)?;
                Some(match modified.format() {
                    Format::Increment => 6,
                    _ => 4,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bytes<'a>(&'a [u8]);

    impl Memory for Bytes<'_> {
        fn u8(&self, address: usize) -> Option<u8> {
            self.0.get(address).copied()
        }
    }

    fn bytecode(bytes: &[u8]) -> Bytecode {
        Bytecode {
            start: 0,
            size: bytes.len() as u16,
            opcodes: VmOpcodes::default(),
        }
    }

    #[test]
    fn calls_are_found_in_each_form_that_the_vm_has() {
        let calls = |bytes: &[u8]| bytecode(bytes).calls(&Bytes(bytes));
        // aload_0, getfield, ireturn: as in the class file, and as the interpreter replaces them.
        for getter in [42, 220, 221, 236] {
            for getfield in [180, 203, 208, 234] {
                let bytes = [getter, getfield, 0, 1, 172];
                assert_eq!(calls(&bytes), Some(false), "{bytes:?}");
            }
        }
        for invoke in [182, 183, 184, 227, 233] {
            assert_eq!(calls(&[42, invoke, 0, 1, 177]), Some(true), "{invoke}");
        }
        assert_eq!(calls(&[42, 185, 0, 1, 1, 0, 177]), Some(true));
        assert_eq!(calls(&[186, 0, 1, 0, 0, 177]), Some(true));
        // A constant that looks like a call.
        assert_eq!(calls(&[16, 182, 172]), Some(false));
        assert_eq!(calls(&[42, 202, 0, 1, 177]), None, "a breakpoint");
        assert_eq!(calls(&[42, 180, 0]), None, "the last instruction is cut");
    }

    #[test]
    fn instructions_behind_switches_and_wide_ones_are_found() {
        // A tableswitch of two cases at 1, and a call behind it.
        let mut table = vec![26, 170, 0, 0];
        table.extend([
            0, 0, 0, 25, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 23, 0, 0, 0, 23,
        ]);
        table.extend([184, 0, 1, 177]);
        assert_eq!(bytecode(&table).calls(&Bytes(&table)), Some(true));
        // A lookupswitch of one case, also where the interpreter replaces it.
        for switch in [171, 228, 229] {
            let mut lookup = vec![26, switch, 0, 0];
            lookup.extend([0, 0, 0, 19, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 19]);
            lookup.push(177);
            assert_eq!(bytecode(&lookup).calls(&Bytes(&lookup)), Some(false));
        }
        // wide iinc, wide iload.
        let wide = [196, 132, 1, 0, 0, 184, 196, 21, 1, 0, 172];
        assert_eq!(bytecode(&wide).calls(&Bytes(&wide)), Some(false));
    }

    #[test]
    fn a_part_is_left_by_a_branch_out_of_it() {
        // 0: iload_0, 1: ifeq 7, 4: iinc 0 1, 7: goto 0, 10: return.
        let bytes = [26, 153, 0, 6, 132, 0, 1, 167, 255, 249, 177];
        let leaves = |part| {
            let does = bytecode(&bytes).does(&Bytes(&bytes), part).unwrap();
            assert!(!does.calls);
            does.leaves
        };
        assert!(!leaves(0..7), "the branch ends right behind the part");
        assert!(leaves(0..4), "the branch ends further on");
        assert!(!leaves(0..10), "the jump ends at its start");
        assert!(leaves(4..10), "the jump ends before it");
        assert!(leaves(10..11), "a return");
    }

    /// The opcodes that the VM of JDK 28 gives at 203 to 239 (`Bytecodes::_java_code`).
    #[test]
    fn value_classes_add_two_opcodes() {
        let (get, put, aload_0, iload) = (180, 181, 42, 21);
        let mut expected = vec![get; 9];
        expected.extend([put; 10]);
        expected.extend([aload_0, aload_0, aload_0, aload_0, iload, iload, iload]);
        expected.extend([182, 171, 171, 18, 19, 177, 182, get, put, aload_0, iload]);
        let opcodes = VmOpcodes {
            has_flat_fields: true,
        };
        let java = |opcodes: VmOpcodes| move |byte| opcodes.java_opcode(byte);
        let found: Option<Vec<u8>> = (203..=239).map(java(opcodes)).collect();
        assert_eq!(found, Some(expected));
        assert_eq!(opcodes.java_opcode(202), Some(202));
        assert_eq!(opcodes.java_opcode(240), None);
        // Without value classes `_invokehandle` is 233, and there is none behind 237.
        let usual = VmOpcodes::default();
        assert_eq!(usual.java_opcode(233), Some(182));
        assert_eq!([204, 213].map(java(usual)), [Some(get), Some(put)]);
        assert_eq!(usual.java_opcode(238), None);
    }
}
