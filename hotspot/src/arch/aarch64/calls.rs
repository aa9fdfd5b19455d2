//! Calls, seen from their return addresses.

use super::patterns::{BL, BLR, starts_with, words};

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
