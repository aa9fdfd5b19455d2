//! The start of a method, up to where its frame is complete.

use super::patterns::{
    BANG, BANG_ADDRESS, NOP, PUSH_FP_LR, STP_FP_LR, SUB_SP, skip_all, starts_with, words,
};

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

#[cfg(test)]
mod tests {
    use crate::arch::aarch64::patterns::bytes;
    use crate::arch::{Aarch64, Arch};

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
}
