//! AArch64 (A64).
//!
//! Written after HotSpot's sources and tried with JVMs under an emulator, not on hardware.

use super::processor::Arch;

/// AArch64, as HotSpot generates code for it since JDK 16.
#[derive(Copy, Clone, Debug)]
pub enum Aarch64 {}

impl Arch for Aarch64 {
    // The return address is in the link register.
    const WORDS_AT_RETURN: usize = 0;

    // Barriers of ZGC save the registers in use (`ZSaveLiveRegisters`): 31 general ones of one
    // word and 32 vector ones of two.
    const MOST_PUSHED: usize = 96;

    const CALL_SIZE: usize = 4;

    // `bl` reaches 128 MiB: calls that may lead further go through a trampoline stub.
    const TRAMPOLINES: bool = true;

    fn is_prologue(code: &[u8]) -> bool {
        let rest = skip_all(&[NOP, BANG_ADDRESS, BANG], words(code));
        starts_with(&rest, &[SUB_SP])
            || starts_with(&rest, &[STP_FP_LR])
            || starts_with(&rest, &[PUSH_FP_LR])
    }

    fn is_frame_removed(code: &[u8]) -> bool {
        let code = words(code);
        let unwinds = starts_with(&code, &[POP_FP_LR, B]);
        unwinds || starts_with(&skip_all(&COMPILED_RETURN, code), &[RET])
    }

    fn is_wrapper_frame_removed(code: &[u8]) -> bool {
        starts_with(&skip_all(&WRAPPER_RETURN, words(code)), &[RET])
    }

    fn is_interpreter_frame_removed(_: &[u8]) -> bool {
        // Unknown for this processor: such mismatches are unexplained.
        false
    }

    fn is_register_call(before: &[u8]) -> bool {
        let code = words(before);
        starts_with(&code, &[BLR])
    }

    fn call_target(call: &[u8], return_address: usize) -> Option<usize> {
        let &[word] = words(call).as_slice() else {
            return None;
        };
        // The low 26 bits count instructions, signed, from the call itself.
        let distance = (word.cast_signed() << 6 >> 6) as isize * 4;
        let target = (return_address - Self::CALL_SIZE).wrapping_add_signed(distance);
        BL.fits(word).then_some(target)
    }
}

/// Instructions whose bits under the mask have this value.
#[derive(Copy, Clone)]
struct Pattern {
    mask: u32,
    bits: u32,
}

const fn pattern(mask: u32, bits: u32) -> Pattern {
    Pattern { mask, bits }
}

/// `ret` to the address in `x30`.
const RET: Pattern = pattern(!0, 0xd65f_03c0);
/// `nop`.
const NOP: Pattern = pattern(!0, 0xd503_201f);
/// `b …`.
const B: Pattern = pattern(0xfc00_0000, 0x1400_0000);
/// `bl …`.
const BL: Pattern = pattern(0xfc00_0000, 0x9400_0000);
/// `blr …`.
const BLR: Pattern = pattern(0xffff_fc1f, 0xd63f_0000);
/// `sub x9, sp, …`, and `str xzr, [x9]`: the stack bang.
const BANG_ADDRESS: Pattern = pattern(0xff80_03ff, 0xd100_03e9);
const BANG: Pattern = pattern(!0, 0xf900_013f);
/// `sub sp, sp, …`.
const SUB_SP: Pattern = pattern(0xff80_03ff, 0xd100_03ff);
/// `stp x29, x30, [sp, …]`.
const STP_FP_LR: Pattern = pattern(0xffc0_7fff, 0xa900_7bfd);
/// `stp x29, x30, [sp, -16]!`.
const PUSH_FP_LR: Pattern = pattern(!0, 0xa9bf_7bfd);
/// `ldp x29, x30, [sp], 16`.
const POP_FP_LR: Pattern = pattern(!0, 0xa8c1_7bfd);
/// `autiasp`, `autiaz`: with pointer authentication (`authenticate_return_address`).
const AUTHENTICATE: Pattern = pattern(0xffff_ffdf, 0xd503_239f);
/// `ldr …, [x28, …]`: a field of the thread.
const LOAD_OF_THREAD: Pattern = pattern(0xffc0_03e0, 0xf940_0380);
/// `cmp sp, …`.
const CMP_SP: Pattern = pattern(0xffe0_ffff, 0xeb20_63ff);
/// `b.hi …`.
const B_HI: Pattern = pattern(0xff00_001f, 0x5400_0008);
/// `cbnz …`.
const CBNZ: Pattern = pattern(0xff00_0000, 0xb500_0000);

/// The instructions that may follow the removal of a compiled frame, before `ret`: the rest of the
/// removal of a large frame (`MacroAssembler::remove_frame`) and the return poll
/// (`MacroAssembler::safepoint_poll`).
const COMPILED_RETURN: [Pattern; 5] = [POP_FP_LR, AUTHENTICATE, LOAD_OF_THREAD, CMP_SP, B_HI];

/// The instructions that may follow the removal of a native wrapper's frame, before `ret`: the rest
/// of `leave`, and the check for an exception (`SharedRuntime::generate_native_wrapper`).
const WRAPPER_RETURN: [Pattern; 4] = [POP_FP_LR, AUTHENTICATE, LOAD_OF_THREAD, CBNZ];

impl Pattern {
    fn fits(self, word: u32) -> bool {
        word & self.mask == self.bits
    }
}

/// The whole instructions of `code`.
fn words(code: &[u8]) -> Vec<u32> {
    let words = code.chunks_exact(4);
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    words.map(word).collect()
}

fn starts_with(code: &[u32], patterns: &[Pattern]) -> bool {
    let mut pairs = code.iter().zip(patterns);
    code.len() >= patterns.len() && pairs.all(|(&word, pattern)| pattern.fits(word))
}

/// The code behind the `instructions`, in order. Instructions that `code` does not have are
/// skipped.
fn skip_all(instructions: &[Pattern], mut code: Vec<u32>) -> Vec<u32> {
    for &instruction in instructions {
        if starts_with(&code, &[instruction]) {
            code.remove(0);
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of these instructions. Each encoding was checked with a disassembler.
    fn bytes(code: &[u32]) -> Vec<u8> {
        code.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

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
    fn a_direct_call_shows_its_target() {
        // `bl -4` and `bl +16`, at 0x1000.
        let target = |word| Aarch64::call_target(&bytes(&[word]), 0x1004);
        assert_eq!(target(0x97ff_ffff), Some(0xffc));
        assert_eq!(target(0x9400_0004), Some(0x1010));
        assert_eq!(target(0x1400_0004), None, "`b` does not return");
        assert_eq!(Aarch64::call_target(&[0, 0], 0x1004), None);
    }
}
