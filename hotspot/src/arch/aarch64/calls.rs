//! Calls, seen from their return addresses.

use super::patterns::{BL, BLR, starts_with, words};
use std::ops::Range;

/// The size of `bl`.
pub(super) const SIZE: usize = 4;

/// Whether the bytes `before` an address are a call through a register.
pub(super) fn is_register_call(before: &[u8]) -> bool {
    starts_with(&words(before), &[BLR])
}

/// The target of the direct call with the bytes `call`, behind which `return_address` is.
pub(super) fn target(call: &[u8], return_address: usize) -> Option<usize> {
    let &[word] = words(call).as_slice() else {
        return None;
    };
    // The low 26 bits count instructions, signed, from the call itself.
    let distance = (word.cast_signed() << 6 >> 6) as isize * 4;
    let target = (return_address - SIZE).wrapping_add_signed(distance);
    BL.fits(word).then_some(target)
}

/// The code of the deoptimisation handler that is entered at `entry`.
pub(super) fn deopt_handler(entry: usize, is_called_first: bool) -> Range<usize> {
    // `HandlerImpl::emit_deopt_handler` (`cpu/aarch64/aarch64.ad`) up to JDK 25:
    //
    //         entry: adr lr, entry; far_jump unpack
    //
    // and from JDK 26 on:
    //
    //         start: far_call unpack; entry: b start
    //
    // A far call or jump has one instruction or three (`MacroAssembler::far_codestub_branch_size`).
    const MOST: usize = 16;
    let before = if is_called_first { 3 * SIZE } else { 0 };
    entry.wrapping_sub(before)..entry.wrapping_add(MOST)
}

#[cfg(test)]
mod tests {
    use crate::arch::aarch64::patterns::bytes;
    use crate::arch::{Aarch64, Arch};

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
