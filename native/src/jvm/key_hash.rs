//! A hasher for `jmethodID`s and other words whose upper bits are mostly equal.

use std::hash::{BuildHasherDefault, Hasher};

/// Hashes a word by a multiplication. Keys are addresses and small numbers of the agent.
#[derive(Default)]
pub struct WordHasher(u64);

/// Hashes by [`WordHasher`].
pub type Spread = BuildHasherDefault<WordHasher>;

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_u64(&mut self, word: u64) {
        let product = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product ^ (product >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
