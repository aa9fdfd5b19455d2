//! Maps by names of a class file.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// FNV-like hashing of short byte strings: the names in a class file are not worth SipHash.
#[derive(Default)]
pub(super) struct NameHasher(u64);

impl Hasher for NameHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        let mut h = self.0;
        let (words, rest) = bytes.as_chunks::<8>();
        for w in words {
            h = (h ^ u64::from_le_bytes(*w))
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .rotate_left(29);
        }
        for &b in rest {
            h = (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01B3);
        }
        self.0 = h ^ (h >> 31);
    }
    fn write_u16(&mut self, n: u16) {
        self.0 = (self.0 ^ u64::from(n))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(29);
    }
}

pub(super) type NameMap<K, V> = HashMap<K, V, BuildHasherDefault<NameHasher>>;
