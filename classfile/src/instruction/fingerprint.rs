//! Numbers that tell code from other code.

use super::length::measure;
use crate::operators::Opcode;
use std::hash::Hasher;

/// A number for the shape of a code array: for where each instruction starts, and for its opcode. Operands
/// do not count, so that another order of the constants changes nothing. Code that cannot be
/// decoded counts up to there.
pub fn shape(code: &[u8]) -> u64 {
    let mut hash = Fnv::default();
    let mut bci = 0;
    while bci < code.len() {
        let Ok((opcode, length)) = measure(code, bci, 0) else {
            break;
        };
        hash.write_u8(opcode.byte());
        hash.write_u32(length as u32);
        bci += length;
    }
    hash.finish()
}

/// A number for all bytes of a code array but the numbers that `bipush` and `sipush` push. No call
/// depends on them, and hooks push the number of their method, which is another one each time a class
/// is loaded. Code that cannot be decoded counts with all its bytes from there.
pub fn fingerprint(code: &[u8]) -> u64 {
    let mut hash = Fnv::default();
    let mut bci = 0;
    while bci < code.len() {
        let Ok((opcode, length)) = measure(code, bci, 0) else {
            break;
        };
        match opcode {
            Opcode::Bipush | Opcode::Sipush => hash.write_u8(opcode.byte()),
            _ => hash.write(&code[bci..bci + length]),
        }
        bci += length;
    }
    hash.write(&code[bci..]);
    hash.finish()
}

/// FNV-1a with 64 bits: the numbers are the same in every run.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pushed_numbers_make_no_other_code_and_calls_do() {
        // sipush 1; bipush 2; invokestatic; ireturn
        let code = [0x11, 0, 1, 0x10, 2, 0xb8, 0, 1, 0xac];
        let renumbered = [0x11, 7, 7, 0x10, 7, 0xb8, 0, 1, 0xac];
        assert_eq!(fingerprint(&code), fingerprint(&renumbered));
        for at in [0, 3, 5, 6, 7, 8] {
            let mut other = code;
            other[at] ^= 2;
            assert_ne!(fingerprint(&code), fingerprint(&other), "byte {at}");
        }
        // No opcode, and what follows.
        assert_ne!(fingerprint(&[0xff, 0x10, 1]), fingerprint(&[0xff, 0x10, 2]));
    }

    #[test]
    fn constants_do_not_shape_code_and_instructions_do() {
        // iload_0; invokestatic; ireturn
        let (code, renumbered) = ([0x1a, 0xb8, 0, 1, 0xac], [0x1a, 0xb8, 0, 9, 0xac]);
        assert_eq!(shape(&code), shape(&renumbered));
        assert_ne!(fingerprint(&code), fingerprint(&renumbered));
        for other in [
            &[0, 0x1a, 0xb8, 0, 1, 0xac][..],
            &[0x1a, 0xb8, 0, 1, 0xac, 0],
            &[0x1b, 0xb8, 0, 1, 0xac],
            &[],
        ] {
            assert_ne!(shape(&code), shape(other), "{other:?}");
        }
    }
}
