//! The interpreter: its frames, and the registers that it uses.

use super::decoder::decode;
use crate::arch::{Effect, InterpretedFrame, Register};
use crate::memory::Memory;

const WORD: usize = size_of::<usize>();

/// The places in an interpreted frame (`frame_x86.hpp`, `interpreter_frame_sender_sp_offset` and so on).
pub(super) const FRAME: InterpretedFrame = InterpretedFrame {
    sender_sp: WORD,
    method: 3 * WORD,
    locals: 7 * WORD,
    bcp: 8 * WORD,
    fixed: 9 * WORD,
};

/// Whether the interpreter at `pc` is about to load its bytecode pointer from the frame. Until then the register may have
/// anything: the interpreter comes from other code, as where it throws on to a caller
/// (`TemplateInterpreterGenerator::generate_throw_exception`).
pub(super) fn loads_bcp(memory: &impl Memory, pc: usize) -> bool {
    // `InterpreterMacroAssembler::restore_bcp`, after a call or where an exception arrives:
    //
    //         mov  qword [rbp - 16], 0    `last_sp` is cleared, perhaps
    //         mov  r13, [rbp - 64]
    const AHEAD: usize = 3;
    const FROM_FRAME: i32 = -(FRAME.bcp as i32);
    let mut at = pc;
    for _ in 0..AHEAD {
        let Some(instruction) = decode(&memory.code(at)) else {
            return false;
        };
        match instruction.effect {
            Effect::Load(Register::R13, Register::RBP, FROM_FRAME) => return true,
            Effect::Nothing | Effect::Store(..) => at = at.wrapping_add(instruction.length),
            _ => return false,
        }
    }
    false
}

/// Whether code that enters a method, from `start` on, has popped the return address to rax before `pc`, and has not pushed it
/// again (`TemplateInterpreterGenerator::generate_normal_entry`). Meanwhile a word of the caller is on top of the stack.
pub(super) fn has_popped_return(memory: &impl Memory, start: usize, pc: usize) -> bool {
    // Locals that are no parameters are pushed where the return address was:
    //
    //         pop  rax
    //         push 0          for each local
    //         push rax        `generate_fixed_frame`
    //         push rbp
    //         mov  rbp, rsp
    //
    // An entry may begin with a jump to another, so what stands behind a jump begins anew.
    const RAX: Register = Register::RAX;
    let mut is_popped = false;
    let mut at = start;
    while at < pc {
        let Some(instruction) = decode(&memory.code(at)) else {
            return false;
        };
        match instruction.effect {
            Effect::Pop(Some(RAX)) => is_popped = true,
            Effect::Push(Some(RAX)) => is_popped = false,
            Effect::Return | Effect::Jump(_) | Effect::JumpRegister(_) | Effect::JumpMemory => {
                is_popped = false;
            }
            _ => {}
        }
        at = at.wrapping_add(instruction.length);
    }
    is_popped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::toy::{CODE, Fixed};

    #[test]
    fn the_return_address_is_in_rax_between_a_pop_and_a_push() {
        // mov rcx, [rbx+8]; pop rax; push 0; push rax; push rbp; jmp over nothing; pop rax; jmp rax; mov rbp, rsp
        let code = &[
            0x48, 0x8b, 0x4b, 8, 0x58, 0x6a, 0, 0x50, 0x55, 0xeb, 0, 0x58, 0xff, 0xe0, 0x48, 0x8b,
            0xec,
        ];
        let memory = Fixed { code, stack: &[] };
        let popped = |at| has_popped_return(&memory, CODE, CODE + at);
        let places = [0, 4, 5, 7, 8, 9, 11, 12, 14].map(popped);
        let expected = [false, false, true, true, false, false, false, true, false];
        assert_eq!(places, expected);
    }

    #[test]
    fn the_interpreter_loads_its_bytecode_pointer() {
        let loads = |code| loads_bcp(&Fixed { code, stack: &[] }, CODE);
        // mov qword [rbp-16], 0; mov r13, [rbp-64]
        assert!(loads(&[
            0x48, 0xc7, 0x45, 0xf0, 0, 0, 0, 0, 0x4c, 0x8b, 0x6d, 0xc0
        ]));
        assert!(loads(&[0x4c, 0x8b, 0x6d, 0xc0]));
        // movzx ebx, byte [r13+1]; mov r13, [rbp-64]
        assert!(!loads(&[0x41, 0x0f, 0xb6, 0x5d, 1, 0x4c, 0x8b, 0x6d, 0xc0]));
        // mov r13, [rbp-56]
        assert!(!loads(&[0x4c, 0x8b, 0x6d, 0xc8]));
    }
}
