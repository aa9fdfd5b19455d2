//! The interpreter: its frames, and the registers that it uses.

use super::instructions::{Access, Op, instruction};
use crate::arch::{InterpretedFrame, Register};
use crate::memory::Memory;
use std::ops::Range;

const WORD: usize = size_of::<usize>();
const FP: Register = Register::RFP;

/// The places in an interpreted frame (`frame_aarch64.hpp`). There is one word more than on x86-64 before the local
/// variables: padding on JDK 17, later the extended stack pointer.
pub(super) const FRAME: InterpretedFrame = InterpretedFrame {
    sender_sp: WORD,
    method: 3 * WORD,
    locals: 8 * WORD,
    bcp: 9 * WORD,
    fixed: 10 * WORD,
};

/// The address behind the instructions in `code` that link a frame, and that keep the caller's stack pointer there.
pub(super) fn link(memory: &impl Memory, code: Range<usize>) -> Option<usize> {
    // `TemplateInterpreterGenerator::generate_fixed_frame`. The method is in the frame already, and until the last of these
    // instructions the link register has the return address:
    //
    //         stp  x29, x30, [sp, #80]
    //         add  x29, sp, #80
    //         stp  xzr, x19, [sp, #64]     `last_sp` is cleared
    let mut links = false;
    for at in code.step_by(4) {
        match instruction(memory, at) {
            Some(Op::Add(FP, Register::STACK_POINTER, _)) => links = true,
            Some(Op::Access(Access {
                loads: false,
                registers: [None, Some(Register::R19_SENDER_SP)],
                is_words: true,
                base: Register::STACK_POINTER,
                ..
            })) if links => return Some(at.wrapping_add(4)),
            _ => {}
        }
    }
    None
}

/// Whether the interpreter at `pc` is about to load its bytecode pointer from the frame. Until then the register may have
/// anything.
pub(super) fn loads_bcp(memory: &impl Memory, pc: usize) -> bool {
    // `InterpreterMacroAssembler::restore_bcp`, after a call or where an exception arrives:
    //
    //         ldr  x20, [x29, #-16]       `last_sp`
    //         str  xzr, [x29, #-16]
    //         ldr  x22, [x29, #-72]
    const AHEAD: usize = 24;
    const FROM_FRAME: i64 = -(FRAME.bcp as i64);
    for at in (pc..).step_by(4).take(AHEAD) {
        match instruction(memory, at) {
            Some(Op::Access(access)) => {
                let loaded = access.loads.then_some(access.registers);
                if loaded.is_some_and(|to| to.contains(&Some(Register::RBCP))) {
                    return access.base == FP && access.offset == FROM_FRAME;
                }
                if access.base == Register::RBCP {
                    return false;
                }
            }
            Some(Op::Add(_, Register::RBCP, _)) => return false,
            Some(Op::Return(_) | Op::Jump(_) | Op::JumpRegister(_) | Op::Trap) | None => {
                return false;
            }
            _ => {}
        }
    }
    false
}

/// Whether the jump through a register at `pc` is one that the interpreter makes with its frame in place: to the code of the next
/// bytecode, or to a method.
pub(super) fn keeps_frame_at_jump(memory: &impl Memory, pc: usize) -> bool {
    // `InterpreterMacroAssembler::dispatch_base` takes the address from a table, and `jump_from_interpreted` from the method:
    //
    //         ldr  x9, [x21, w8, uxtw #3]     ldr  x8, [x12, #from_interpreted]
    //         br   x9                         br   x8
    let Some(jump) = memory.u32(pc) else {
        return false;
    };
    let to = jump >> 5 & 31;
    let before = memory.u32(pc.wrapping_sub(4));
    before.is_some_and(|word| {
        let is_of_table = word & 0xffe0_1fe0 == 0xf860_1aa0;
        let is_of_method = word & 0xffc0_03e0 == 0xf940_0180;
        word & 31 == to && (is_of_table || is_of_method)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::aarch64::patterns::bytes;
    use crate::arch::toy::{CODE, Fixed};

    #[test]
    fn a_frame_is_linked_when_it_has_the_stack_pointer_of_the_caller() {
        // stp x12, xzr, [sp, #48]; stp x29, x30, [sp, #80]; add x29, sp, #80; stp xzr, x19, [sp, #64]; ret
        let code = bytes(&[
            0xa903_7fec,
            0xa905_7bfd,
            0x9101_43fd,
            0xa904_4fff,
            0xd65f_03c0,
        ]);
        let memory = Fixed {
            code: &code,
            stack: &[],
        };
        assert_eq!(link(&memory, CODE..CODE + 20), Some(CODE + 16));
        assert_eq!(link(&memory, CODE..CODE + 12), None);
    }

    #[test]
    fn the_interpreter_loads_its_bytecode_pointer() {
        let loads = |code: &[u32]| {
            let code = bytes(code);
            loads_bcp(
                &Fixed {
                    code: &code,
                    stack: &[],
                },
                CODE,
            )
        };
        // ldr x20, [x29, #-16]; str xzr, [x29, #-16]; ldr x22, [x29, #-72]
        assert!(loads(&[0xf85f_03b4, 0xf81f_03bf, 0xf85b_83b6]));
        // ldrb w8, [x22, #1]; ldr x22, [x29, #-72]
        assert!(!loads(&[0x3940_06c8, 0xf85b_83b6]));
        assert!(!loads(&[0xd503_201f; 30]));
    }

    #[test]
    fn jumps_to_the_next_bytecode_and_to_methods_keep_the_frame() {
        let keeps = |code: &[u32]| {
            let code = bytes(code);
            keeps_frame_at_jump(
                &Fixed {
                    code: &code,
                    stack: &[],
                },
                CODE + 4,
            )
        };
        // ldr x9, [x21, w8, uxtw #3]; br x9. ldr x8, [x12, #80]; br x8. mov x3, x30; br x1.
        assert!(keeps(&[0xf868_5aa9, 0xd61f_0120]));
        assert!(keeps(&[0xf940_2988, 0xd61f_0100]));
        assert!(!keeps(&[0xaa1e_03e3, 0xd61f_0020]));
    }
}
