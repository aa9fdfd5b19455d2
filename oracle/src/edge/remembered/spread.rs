//! Hashing of small numbers: the judge looks into its maps some twenty times for each stack.

use std::hash::{BuildHasherDefault, Hasher};

/// Hashes numbers by a multiplication.
pub type Spread = BuildHasherDefault<NumberHasher>;

/// Mixes each word in by a multiplication. An attacker cannot choose the numbers.
#[derive(Debug, Default)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_i32(&mut self, word: i32) {
        self.write_u64(u64::from(word as u32));
    }

    /// Derived code calls this for the variant of an enum.
    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }

    fn write_u64(&mut self, word: u64) {
        let product = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product ^ (product >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
