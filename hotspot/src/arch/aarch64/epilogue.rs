//! The end of a method: its frame is removed, and the return address is in the link register.

use super::patterns::{
    AUTHENTICATE, B, B_HI, CBNZ, CMP_SP, LOAD_OF_THREAD, POP_FP_LR, Pattern, RET, skip_all,
    starts_with, words,
};

/// Whether `code` is behind the removal of a compiled frame.
pub(super) fn is_frame_removed(code: &[u8]) -> bool {
    // The rest of `MacroAssembler::remove_frame`, and the return poll (`MacroAssembler::safepoint_poll`):
    //
    //         ldp  x29, x30, [sp], #16      the end of the removal of a large frame
    //         autiaz                        with pointer authentication (`authenticate_return_address`)
    //         ldr  x8, [x28, #poll]
    //         cmp  sp, x8
    //         b.hi stub
    //         ret
    const RETURN: [Pattern; 5] = [POP_FP_LR, AUTHENTICATE, LOAD_OF_THREAD, CMP_SP, B_HI];
    let code = words(code);
    // An exception leaves a method by a branch, which alone could be any branch.
    let unwinds = starts_with(&code, &[POP_FP_LR, B]);
    unwinds || starts_with(&skip_all(&RETURN, code), &[RET])
}

/// Whether `code` is behind the removal of a native wrapper's frame.
pub(super) fn is_wrapper_frame_removed(code: &[u8]) -> bool {
    // The rest of `leave`, and the check for an exception (`SharedRuntime::generate_native_wrapper`):
    //
    //         ldp  x29, x30, [sp], #16
    //         autiaz
    //         ldr  x8, [x28, #exception]
    //         cbnz x8, forward
    //         ret
    const RETURN: [Pattern; 4] = [POP_FP_LR, AUTHENTICATE, LOAD_OF_THREAD, CBNZ];
    starts_with(&skip_all(&RETURN, words(code)), &[RET])
}

#[cfg(test)]
mod tests {
    use crate::arch::aarch64::patterns::bytes;
    use crate::arch::{Aarch64, Arch};

    /// `ldp x29, x30, [sp, 48]`, `add sp, sp, 64`, `ldr x8, [x28, 1096]`, `cmp sp, x8`,
    /// `b.hi +24`, `ret`.
    const SMALL: [u32; 6] = [
        0xa943_7bfd,
        0x9101_03ff,
        0xf942_2788,
        0xeb28_63ff,
        0x5400_00c8,
        0xd65f_03c0,
    ];

    #[test]
    fn an_epilogue_is_recognised_behind_the_removal_of_the_frame() {
        for start in 2..SMALL.len() {
            assert!(
                Aarch64::is_frame_removed(&bytes(&SMALL[start..])),
                "{start}"
            );
        }
        for start in 0..2 {
            let stands = bytes(&SMALL[start..]);
            assert!(
                !Aarch64::is_frame_removed(&stands),
                "the frame stands at {start}"
            );
        }
        assert!(!Aarch64::is_frame_removed(&bytes(&SMALL[2..5])), "no `ret`");
        assert!(
            !Aarch64::is_frame_removed(&[0xc0, 0x03]),
            "half an instruction"
        );
        // A large frame: `ldp x29, x30, [sp], 16`, `autiaz`, `ldr`, `cmp`, `b.hi`, `ret`.
        let large = [&[0xa8c1_7bfd, 0xd503_239f], &SMALL[2..]].concat();
        for start in 0..large.len() {
            assert!(
                Aarch64::is_frame_removed(&bytes(&large[start..])),
                "{start}"
            );
        }
        // An exception: `ldp x29, x30, [sp], 16`, `b …`. The branch alone could be any branch.
        assert!(Aarch64::is_frame_removed(&bytes(&[
            0xa8c1_7bfd,
            0x1400_0010
        ])));
        assert!(!Aarch64::is_frame_removed(&bytes(&[0x1400_0010])));
    }

    #[test]
    fn a_native_wrapper_checks_for_an_exception() {
        // `ldp x29, x30, [sp], 16`, `ldr x8, [x28, 8]`, `cbnz x8, +16`, `ret`.
        let code = [0xa8c1_7bfd, 0xf940_0788, 0xb500_0088, 0xd65f_03c0];
        for start in 0..code.len() {
            assert!(Aarch64::is_wrapper_frame_removed(&bytes(&code[start..])));
        }
        assert!(!Aarch64::is_wrapper_frame_removed(&bytes(&code[..3])));
        assert!(!Aarch64::is_wrapper_frame_removed(&bytes(&SMALL[2..])));
    }
}
