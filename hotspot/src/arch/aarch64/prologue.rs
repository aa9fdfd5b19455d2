//! The start of a method, up to where its frame is complete.

use super::instructions::{Access, Op, instruction};
use super::patterns::{
    BANG, BANG_ADDRESS, MOV_FP_SP, NOP, PUSH_FP_LR, STP_FP_LR, SUB_SP, skip_all, starts_with, words,
};
use crate::arch::{Depth, Register};
use crate::memory::Memory;

const SP: Register = Register::STACK_POINTER;
const FP: Register = Register::RFP;

/// Whether `code` is in the prologue of a compiled method.
pub(super) fn is_prologue(code: &[u8]) -> bool {
    // `MacroAssembler::build_frame`, behind the stack bang of `C1_MacroAssembler::build_frame` and of C2's prologue:
    //
    //         nop
    //         sub  x9, sp, #0x14, lsl 12    the stack bang
    //         str  xzr, [x9]
    //         sub  sp, sp, #N
    //         stp  x29, x30, [sp, #N - 16]
    //
    // A large frame pushes the two first: `stp x29, x30, [sp, #-16]!`.
    let rest = skip_all(&[NOP, BANG_ADDRESS, BANG], words(code));
    [SUB_SP, STP_FP_LR, PUSH_FP_LR]
        .iter()
        .any(|&first| starts_with(&rest, &[first]))
}

/// The length of the instructions at the start of `code` that link a frame.
pub(super) fn link_length(code: &[u8]) -> Option<usize> {
    // `MacroAssembler::enter`: `stp x29, x30, [sp, #-16]!`, `mov x29, sp`.
    let link = [PUSH_FP_LR, MOV_FP_SP];
    starts_with(&words(code), &link).then_some(4 * link.len())
}

/// Follows the code from `start` to `pc`: [`Follow::follow`](crate::arch::Follow::follow).
pub(super) fn follow(memory: &impl Memory, start: usize, pc: usize, steps: usize) -> Option<Depth> {
    let mut depth = Depth::default();
    let mut at = start;
    for _ in 0..steps {
        if at >= pc {
            break;
        }
        let op = instruction(memory, at)?;
        at = at.wrapping_add(4);
        match op {
            Op::Add(SP, SP, number) => depth.bytes -= number as isize,
            Op::Add(FP, SP, _) => depth.has_own_fp = true,
            Op::Add(SP, ..) | Op::Align(SP, _) => return None,
            Op::Access(access) if access.base == SP => {
                if !access.loads && saves_link(&access) && depth.saved_fp.is_none() {
                    depth.saved_fp = Some(depth.bytes - access.offset as isize);
                }
                depth.bytes -= access.moves as isize;
            }
            Op::Return(_) | Op::Jump(_) | Op::JumpRegister(_) => depth = Depth::default(),
            _ => {}
        }
    }
    (at == pc).then_some(depth)
}

/// Whether an instruction stores the frame pointer and the link register.
fn saves_link(access: &Access) -> bool {
    access.is_words && access.registers == [Some(FP), Some(Register::LR)]
}

#[cfg(test)]
mod tests {
    use crate::arch::aarch64::patterns::bytes;
    use crate::arch::toy::{CODE, Fixed};
    use crate::arch::{Aarch64, Arch};
    use crate::arch::{Depth, Follow};

    #[test]
    fn a_prologue_ends_with_its_frame() {
        // `nop`, `sub x9, sp, 20, lsl 12`, `str xzr, [x9]`, `sub sp, sp, 64`,
        // `stp x29, x30, [sp, 48]`, `mov w0, 0`.
        let code = [
            0xd503_201f,
            0xd140_53e9,
            0xf900_013f,
            0xd101_03ff,
            0xa903_7bfd,
            0x5280_0000,
        ];
        for start in 0..5 {
            assert!(Aarch64::is_prologue(&bytes(&code[start..])), "{start}");
        }
        assert!(!Aarch64::is_prologue(&bytes(&code[5..])));
        assert!(Aarch64::is_prologue(&bytes(&[0xa9bf_7bfd])));
    }

    #[test]
    fn a_prologue_is_followed_to_where_the_link_register_is_saved() {
        // sub sp, sp, #64; stp x29, x30, [sp, #48]; nop
        let small = bytes(&[0xd101_03ff, 0xa903_7bfd, 0xd503_201f]);
        // stp x29, x30, [sp, #-16]!; mov x29, sp; sub sp, sp, #64
        let large = bytes(&[0xa9bf_7bfd, 0x9100_03fd, 0xd101_03ff]);
        let depth = |code: &[u8], at: usize| {
            let memory = Fixed { code, stack: &[] };
            Aarch64::follow(&memory, CODE, CODE + 4 * at, 16)
        };
        let of = |bytes, saved_fp, has_own_fp| {
            Some(Depth {
                bytes,
                saved_fp,
                has_own_fp,
            })
        };
        assert_eq!(depth(&small, 0), of(0, None, false));
        assert_eq!(depth(&small, 1), of(64, None, false));
        assert_eq!(depth(&small, 2), of(64, Some(16), false));
        assert_eq!(depth(&large, 1), of(16, Some(16), false));
        assert_eq!(depth(&large, 3), of(80, Some(16), true));
        assert_eq!(Aarch64::link_length(&large), Some(8));
        assert_eq!(Aarch64::link_length(&small), None);
    }
}
