//! The instructions by which code is recognised.

/// Instructions whose bits under the mask have this value.
#[derive(Copy, Clone)]
pub(super) struct Pattern {
    mask: u32,
    bits: u32,
}

const fn pattern(mask: u32, bits: u32) -> Pattern {
    Pattern { mask, bits }
}

/// `ret` to the address in `x30`.
pub(super) const RET: Pattern = pattern(!0, 0xd65f_03c0);
/// `nop`.
pub(super) const NOP: Pattern = pattern(!0, 0xd503_201f);
/// `b …`.
pub(super) const B: Pattern = pattern(0xfc00_0000, 0x1400_0000);
/// `bl …`.
pub(super) const BL: Pattern = pattern(0xfc00_0000, 0x9400_0000);
/// `blr …`.
pub(super) const BLR: Pattern = pattern(0xffff_fc1f, 0xd63f_0000);
/// `sub x9, sp, …`, and `str xzr, [x9]`: the stack bang.
pub(super) const BANG_ADDRESS: Pattern = pattern(0xff80_03ff, 0xd100_03e9);
pub(super) const BANG: Pattern = pattern(!0, 0xf900_013f);
/// `sub sp, sp, …`.
pub(super) const SUB_SP: Pattern = pattern(0xff80_03ff, 0xd100_03ff);
/// `stp x29, x30, [sp, …]`.
pub(super) const STP_FP_LR: Pattern = pattern(0xffc0_7fff, 0xa900_7bfd);
/// `stp x29, x30, [sp, -16]!`.
pub(super) const PUSH_FP_LR: Pattern = pattern(!0, 0xa9bf_7bfd);
/// `mov x29, sp`.
pub(super) const MOV_FP_SP: Pattern = pattern(!0, 0x9100_03fd);
/// `ldp x29, x30, [sp], 16`.
pub(super) const POP_FP_LR: Pattern = pattern(!0, 0xa8c1_7bfd);
/// `autiasp`, `autiaz`: with pointer authentication (`authenticate_return_address`).
pub(super) const AUTHENTICATE: Pattern = pattern(0xffff_ffdf, 0xd503_239f);
/// `ldr …, [x28, …]`: a field of the thread.
pub(super) const LOAD_OF_THREAD: Pattern = pattern(0xffc0_03e0, 0xf940_0380);
/// `cmp sp, …`.
pub(super) const CMP_SP: Pattern = pattern(0xffe0_ffff, 0xeb20_63ff);
/// `b.hi …`.
pub(super) const B_HI: Pattern = pattern(0xff00_001f, 0x5400_0008);
/// `cbnz …`.
pub(super) const CBNZ: Pattern = pattern(0xff00_0000, 0xb500_0000);

impl Pattern {
    pub(super) fn fits(self, word: u32) -> bool {
        word & self.mask == self.bits
    }
}

/// The whole instructions of `code`.
pub(super) fn words(code: &[u8]) -> Vec<u32> {
    let words = code.chunks_exact(4);
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    words.map(word).collect()
}

pub(super) fn starts_with(code: &[u32], patterns: &[Pattern]) -> bool {
    let mut pairs = code.iter().zip(patterns);
    code.len() >= patterns.len() && pairs.all(|(&word, pattern)| pattern.fits(word))
}

/// The code behind the `instructions`, in order. Instructions that `code` does not have are
/// skipped.
pub(super) fn skip_all(instructions: &[Pattern], mut code: Vec<u32>) -> Vec<u32> {
    for &instruction in instructions {
        if starts_with(&code, &[instruction]) {
            code.remove(0);
        }
    }
    code
}

/// The bytes of these instructions, for tests. Each encoding in the tests was checked with a disassembler.
#[cfg(test)]
pub(super) fn bytes(code: &[u32]) -> Vec<u8> {
    code.iter().flat_map(|word| word.to_le_bytes()).collect()
}
