//! Copies of x86-64 instructions that do at another address what the instruction does at its own (Intel
//! SDM, volume 2, chapter 2 and appendix A).
//!
//! An instruction that does not depend on the program counter runs anywhere. An operand relative to the
//! program counter gets a general register as its base. Jumps, calls and returns have no copy: their
//! effect is their description.

use super::decoder::{Decoded, Prefixes, decode};
use crate::arch::Effect;

/// What stands for an instruction.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Copied {
    /// The copy does all.
    Whole(Copy),
    /// The program counter moves by this many bytes from the end of the instruction.
    Jump(i32),
    /// The program counter moves in this way if the condition holds.
    Branch(Condition, i32),
    /// The return address is pushed, and the program counter moves by this many bytes from there.
    Call(i32),
    /// The copy loads the target of a jump into `rax`.
    JumpTo(Copy),
    /// The copy loads the target of a call into `rax`.
    CallTo(Copy),
    /// The program counter is popped, and this many bytes of arguments.
    Return(u16),
}

/// The bytes of a copy.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Copy {
    bytes: [u8; 16],
    length: u8,
    /// The base of an operand relative to the program counter.
    pub base: Option<Base>,
    /// Whether the instruction may use more than general registers and flags: vectors, the x87 unit.
    pub is_extended: bool,
}

/// A general register that has an address while the copy runs.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Base {
    /// The register's number: 3 (`rbx`), 6 (`rsi`) or 7 (`rdi`).
    pub register: u8,
    /// The distance of the address from the end of the instruction.
    pub distance: i32,
}

/// A condition of a jump.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Condition(u8);

impl Copy {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl Condition {
    /// Whether the condition holds for these flags (Intel SDM, volume 1, appendix B).
    pub fn holds(self, flags: u64) -> bool {
        let is_set = |bit: u32| flags >> bit & 1 == 1;
        let [carry, parity, zero, sign, overflow] = [0, 2, 6, 7, 11].map(is_set);
        let plain = match self.0 >> 1 {
            0 => overflow,
            1 => carry,
            2 => zero,
            3 => carry || zero,
            4 => sign,
            5 => parity,
            6 => sign != overflow,
            _ => zero || sign != overflow,
        };
        plain != (self.0 & 1 == 1)
    }
}

/// The length of the instruction at the start of `code`, and what stands for the instruction. `None` if
/// the instruction has no copy: it enters the kernel, traps, changes what only the kernel may change, or
/// is not known.
pub fn copied(code: &[u8; 16]) -> Option<(usize, Copied)> {
    let instruction = decode(code)?;
    let Decoded {
        length,
        effect,
        prefixes,
        ..
    } = instruction;
    let whole = || Some(Copied::Whole(prefixes.copy(code, &instruction)?));
    let is_plain = !prefixes.operand_16 && !prefixes.address_32;
    let copied = match effect {
        Effect::Trap => None,
        Effect::Jump(distance) if is_plain => Some(Copied::Jump(distance)),
        Effect::Branch(distance) if is_plain => {
            let condition = match &code[prefixes.end..] {
                [0x0f, opcode, ..] | [opcode @ 0x70..=0x7f, ..] => Some(opcode & 15),
                // Loops and `jrcxz`.
                _ => None,
            };
            condition.map(|condition| Copied::Branch(Condition(condition), distance))
        }
        Effect::Call | Effect::JumpRegister(_) | Effect::JumpMemory if is_plain => {
            let modrm = instruction.modrm.map(|at| code[at] >> 3 & 7);
            match (code[prefixes.end], modrm) {
                (0xe8, _) => {
                    let distance = code.get(length - 4..length)?.try_into().ok()?;
                    Some(Copied::Call(i32::from_le_bytes(distance)))
                }
                (0xff, Some(2)) => prefixes.load(code, &instruction).map(Copied::CallTo),
                (0xff, Some(4)) => prefixes.load(code, &instruction).map(Copied::JumpTo),
                _ => None,
            }
        }
        Effect::Return if is_plain => match code[prefixes.end..] {
            [0xc2, low, high, ..] => Some(Copied::Return(u16::from_le_bytes([low, high]))),
            _ => Some(Copied::Return(0)),
        },
        Effect::Jump(_) | Effect::Branch(_) | Effect::Return => None,
        Effect::Call | Effect::JumpRegister(_) | Effect::JumpMemory => None,
        _ => whole(),
    };
    Some((length, copied?))
}

/// What an opcode needs.
#[derive(Copy, Clone, Eq, PartialEq)]
enum Needs {
    General,
    Extended,
}

impl Prefixes {
    /// What the instruction needs; `None` if it has no copy.
    fn needs(&self, code: &[u8; 16], modrm: Option<u8>) -> Option<Needs> {
        let group = modrm.map(|modrm| modrm >> 3 & 7);
        let is_register = modrm.is_some_and(|modrm| modrm >> 6 == 3);
        match code[self.end..] {
            [0x0f, opcode, ..] => match opcode {
                0x00 | 0x01 | 0x05..=0x0b | 0x20..=0x23 | 0x30 | 0x32..=0x37 => None,
                0xa1 | 0xa9 | 0xaa | 0xb9 | 0xff => None,
                // Fences; other instructions of the group save and load states.
                0xae if self.repeat.is_some() || self.operand_16 => None,
                0xae if is_register && group >= Some(5) => Some(Needs::General),
                0xae => None,
                // cmpxchg8b and cmpxchg16b.
                0xc7 if group == Some(1) && !is_register => Some(Needs::General),
                0xc7 => None,
                0x0d | 0x18..=0x1f | 0x31 | 0x40..=0x4f | 0x90..=0x9f => Some(Needs::General),
                0xa0 | 0xa2..=0xa5 | 0xa8 | 0xab..=0xad | 0xaf..=0xb1 => Some(Needs::General),
                0xb3 | 0xb6..=0xb8 | 0xba..=0xc1 | 0xc3 | 0xc8..=0xcf => Some(Needs::General),
                _ => Some(Needs::Extended),
            },
            [0xc4 | 0xc5 | 0x62, ..] => Some(Needs::Extended),
            // `popf`, interrupts, ports, segments, transactions.
            [0x9d | 0xcc..=0xcf | 0xf1 | 0xf4 | 0xfa | 0xfb, ..] => None,
            [0x6c..=0x6f | 0xe4..=0xe7 | 0xec..=0xef | 0x8e, ..] => None,
            [0x8f | 0xc6 | 0xc7, ..] if group != Some(0) => None,
            [0x9b | 0xd8..=0xdf, ..] => Some(Needs::Extended),
            _ => Some(Needs::General),
        }
    }

    fn copy(&self, code: &[u8; 16], instruction: &Decoded) -> Option<Copy> {
        let modrm = instruction.modrm.map(|at| code[at]);
        let needs = self.needs(code, modrm)?;
        let mut copy = Copy {
            bytes: *code,
            length: u8::try_from(instruction.length).ok()?,
            base: None,
            is_extended: needs == Needs::Extended,
        };
        if let Some(at) = instruction.modrm.filter(|&at| code[at] & 0xc7 == 5) {
            copy.base = Some(self.rebase(&mut copy.bytes, at)?);
        }
        Some(copy)
    }

    /// Gives the operand of the ModRM byte at `at`, which is relative to the program counter, a register
    /// as its base that the instruction does not use.
    fn rebase(&self, bytes: &mut [u8; 16], at: usize) -> Option<Base> {
        if self.address_32 || self.segment.is_some() {
            return None;
        }
        let distance = bytes.get(at + 1..at + 5)?.try_into().ok()?;
        // The second source of vector instructions, inverted (Intel SDM, volume 2, 2.3.5.6).
        let second = |byte: u8| !(byte >> 3) & 15;
        let (other, prefix) = match bytes[self.end] {
            0xc5 => (Some(second(bytes[self.end + 1])), None),
            0xc4 => (Some(second(bytes[self.end + 2])), Some(self.end + 1)),
            0x62 => (Some(second(bytes[self.end + 2])), Some(self.end + 1)),
            _ => (None, None),
        };
        let field = bytes[at] >> 3 & 7;
        let is_free = |register: &u8| *register != field && Some(*register) != other;
        let register = [6, 7, 3].into_iter().find(is_free)?;
        bytes[at] = 0x80 | field << 3 | register;
        bytes[at + 1..at + 5].fill(0);
        // The bit that makes the base one of r8 to r15: of VEX and EVEX inverted.
        match prefix {
            Some(prefix) => bytes[prefix] |= 0x20,
            None if self.rex != 0 => bytes[self.end - 1] &= !1,
            None => {}
        }
        Some(Base {
            register,
            distance: i32::from_le_bytes(distance),
        })
    }

    /// A copy that loads the operand of a jump or call into `rax`.
    fn load(&self, code: &[u8; 16], instruction: &Decoded) -> Option<Copy> {
        let at = instruction.modrm?;
        let operand = &code[at..instruction.length];
        let mut load = [0; 16];
        let mut length = 0;
        let mut put = |byte: u8| {
            load[length] = byte;
            length += 1;
        };
        self.segment.into_iter().for_each(&mut put);
        // The operand has 64 bits, and the register field is that of rax.
        put(0x48 | self.rex & 3);
        put(0x8b);
        put(operand[0] & 0xc7);
        operand[1..].iter().for_each(|&byte| put(byte));
        let decoded = decode(&load)?;
        let mut copy = decoded.prefixes.copy(&load, &decoded)?;
        copy.length = u8::try_from(length).ok()?;
        Some(copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: &[u8]) -> Option<Copied> {
        let mut bytes = [0x90; 16];
        bytes[..code.len()].copy_from_slice(code);
        let (length, copied) = copied(&bytes)?;
        assert_eq!(length, code.len(), "{code:x?}");
        Some(copied)
    }

    fn whole(code: &[u8]) -> (Vec<u8>, Option<Base>, bool) {
        match of(code) {
            Some(Copied::Whole(copy)) => (copy.bytes().to_vec(), copy.base, copy.is_extended),
            other => panic!("{code:x?}: {other:?}"),
        }
    }

    fn base(register: u8, distance: i32) -> Option<Base> {
        Some(Base { register, distance })
    }

    #[test]
    fn what_does_not_depend_on_the_program_counter_stays() {
        for (code, is_extended) in [
            // push rbp; mov [rsp+16], rbp; lock cmpxchg [rdi], rsi; mov rax, fs:[0x28]
            (&[0x55][..], false),
            (&[0x48, 0x89, 0x6c, 0x24, 0x10], false),
            (&[0xf0, 0x48, 0x0f, 0xb1, 0x37], false),
            (&[0x64, 0x48, 0x8b, 4, 0x25, 0x28, 0, 0, 0], false),
            // movsd xmm0, [rsp]; vpxor xmm0, xmm0, xmm1; fld1
            (&[0xf2, 0x0f, 0x10, 4, 0x24], true),
            (&[0xc5, 0xf9, 0xef, 0xc1], true),
            (&[0xd9, 0xe8], true),
        ] {
            assert_eq!(whole(code), (code.to_vec(), None, is_extended));
        }
    }

    #[test]
    fn operands_relative_to_the_program_counter_get_a_base() {
        // mov r9, [rip+0x100]: rsi has the address.
        let (bytes, base_of, _) = whole(&[0x4c, 0x8b, 0x0d, 0, 1, 0, 0]);
        assert_eq!(bytes, [0x4c, 0x8b, 0x8e, 0, 0, 0, 0]);
        assert_eq!(base_of, base(6, 0x100));
        // mov [rip-4], rsi: rdi, because the instruction uses rsi.
        let (bytes, base_of, _) = whole(&[0x48, 0x89, 0x35, 0xfc, 0xff, 0xff, 0xff]);
        assert_eq!(bytes, [0x48, 0x89, 0xb7, 0, 0, 0, 0]);
        assert_eq!(base_of, base(7, -4));
        // cmp byte [rip+8], 5, with a bit of REX that does not count.
        let (bytes, base_of, _) = whole(&[0x41, 0x80, 0x3d, 8, 0, 0, 0, 5]);
        assert_eq!(bytes, [0x40, 0x80, 0xbe, 0, 0, 0, 0, 5]);
        assert_eq!(base_of, base(6, 8));
        // andn rax, rsi, [rip+8]: the second source is rsi.
        let (bytes, base_of, _) = whole(&[0xc4, 0xe2, 0xc8, 0xf2, 5, 8, 0, 0, 0]);
        assert_eq!(bytes, [0xc4, 0xe2, 0xc8, 0xf2, 0x87, 0, 0, 0, 0]);
        assert_eq!(base_of, base(7, 8));
    }

    #[test]
    fn jumps_calls_and_returns_are_described() {
        assert_eq!(of(&[0xeb, 0xfe]), Some(Copied::Jump(-2)));
        assert_eq!(of(&[0xe8, 4, 0, 0, 0]), Some(Copied::Call(4)));
        assert_eq!(of(&[0xc3]), Some(Copied::Return(0)));
        assert_eq!(of(&[0xf3, 0xc3]), Some(Copied::Return(0)));
        assert_eq!(of(&[0xc2, 8, 0]), Some(Copied::Return(8)));
        assert_eq!(
            of(&[0x0f, 0x87, 1, 0, 0, 0]),
            Some(Copied::Branch(Condition(7), 1))
        );
        assert_eq!(of(&[0x74, 5]), Some(Copied::Branch(Condition(4), 5)));
        // call [rsp+8]; jmp r10; jmp [rip+16]
        let target = |code: &[u8]| match of(code) {
            Some(Copied::CallTo(copy) | Copied::JumpTo(copy)) => (copy.bytes().to_vec(), copy.base),
            other => panic!("{other:?}"),
        };
        let load = vec![0x48, 0x8b, 0x44, 0x24, 8];
        assert_eq!(target(&[0xff, 0x54, 0x24, 8]), (load, None));
        assert_eq!(target(&[0x41, 0xff, 0xe2]), (vec![0x49, 0x8b, 0xc2], None));
        let load = vec![0x48, 0x8b, 0x86, 0, 0, 0, 0];
        assert_eq!(target(&[0xff, 0x25, 16, 0, 0, 0]), (load, base(6, 16)));
    }

    #[test]
    fn what_only_the_kernel_does_has_no_copy() {
        for code in [
            // syscall; int3; popf; ud2; hlt; xsavec [rsp]; ldmxcsr [rsp]; jrcxz; xbegin
            &[0x0f, 0x05][..],
            &[0xcc],
            &[0x9d],
            &[0x0f, 0x0b],
            &[0xf4],
            &[0x0f, 0xc7, 0x24, 0x24],
            &[0x0f, 0xae, 0x14, 0x24],
            &[0xe3, 0],
            &[0xc7, 0xf8, 0, 0, 0, 0],
        ] {
            assert_eq!(of(code), None, "{code:x?}");
        }
    }

    #[test]
    fn conditions_hold_as_the_processor_has_them() {
        let (carry, zero, sign, overflow) = (1, 1 << 6, 1 << 7, 1 << 11);
        for (condition, holds, fails) in [
            (0, overflow, carry),
            (2, carry, zero),
            (3, zero, carry),
            (5, 0, zero),
            (6, carry, sign),
            (7, sign, zero),
            (0xc, sign, sign | overflow),
            (0xd, sign | overflow, overflow),
            (0xe, zero, sign | overflow),
            (0xf, 0, sign),
        ] {
            let condition = Condition(condition);
            assert!(condition.holds(holds), "{condition:?}");
            assert!(!condition.holds(fails), "{condition:?}");
        }
    }
}
