//! The VM's flags, by name (`share/runtime/flags/jvmFlag.hpp`).

use super::fields::Fields;
use crate::memory::Memory;

/// More flags than any VM has.
const MOST: usize = 1 << 13;

/// Where the VM keeps its flags.
#[derive(Copy, Clone, Debug)]
pub struct Flags {
    start: usize,
    count: usize,
    size: usize,
    name: usize,
    value: usize,
}

impl Flags {
    /// `None` if this VM does not describe its flags as expected.
    pub fn find(fields: &impl Fields) -> Option<Flags> {
        let field = |field| fields.field(&["JVMFlag"], field);
        Some(Flags {
            start: field("flags")?,
            count: field("numFlags")?,
            size: fields.size("JVMFlag")?,
            name: field("_name")?,
            value: field("_addr")?,
        })
    }

    /// Where the value of the flag `name` lies; `None` if the VM has no such flag.
    fn place(&self, memory: &impl Memory, name: &str) -> Option<usize> {
        let (start, count) = (memory.word(self.start)?, memory.word(self.count)?);
        let flags = (0..count.min(MOST)).map(|at| start + at * self.size);
        let is_it = |flag: &usize| {
            let text = memory.word(flag + self.name).filter(|&text| text != 0);
            text.is_some_and(|text| is_text(memory, text, name))
        };
        memory.word(flags.into_iter().find(is_it)? + self.value)
    }

    /// Whether the flag `name`, a text, has a value.
    pub fn is_given(&self, memory: &impl Memory, name: &str) -> Option<bool> {
        Some(memory.word(self.place(memory, name)?)? != 0)
    }
}

/// Whether the zero-terminated text at `address` is `text`.
fn is_text(memory: &impl Memory, address: usize, text: &str) -> bool {
    let bytes = text.bytes().chain([0]);
    let mut places = (address..).zip(bytes);
    places.all(|(place, byte)| memory.u8(place) == Some(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Bytes by address.
    struct Bytes(HashMap<usize, u8>);

    impl Bytes {
        fn put(&mut self, address: usize, bytes: &[u8]) {
            self.0.extend((address..).zip(bytes.iter().copied()));
        }

        fn put_word(&mut self, address: usize, word: usize) {
            self.put(address, &word.to_ne_bytes());
        }

        fn read<const N: usize>(&self, address: usize) -> Option<[u8; N]> {
            let mut read = [0; N];
            for (byte, at) in read.iter_mut().zip(address..) {
                *byte = *self.0.get(&at)?;
            }
            Some(read)
        }
    }

    impl Memory for Bytes {
        fn u8(&self, address: usize) -> Option<u8> {
            self.read(address).map(u8::from_ne_bytes)
        }
        fn u16(&self, address: usize) -> Option<u16> {
            self.read(address).map(u16::from_ne_bytes)
        }
        fn u32(&self, address: usize) -> Option<u32> {
            self.read(address).map(u32::from_ne_bytes)
        }
        fn word(&self, address: usize) -> Option<usize> {
            self.read(address).map(usize::from_ne_bytes)
        }
        fn code(&self, _: usize) -> [u8; 16] {
            [0; 16]
        }
    }

    #[test]
    fn flags_are_found_by_their_whole_name() {
        let mut memory = Bytes(HashMap::new());
        let layout = Flags {
            start: 0x10,
            count: 0x18,
            size: 32,
            name: 8,
            value: 16,
        };
        memory.put_word(layout.start, 0x100);
        memory.put_word(layout.count, 3);
        for (at, (name, value)) in [("AOTCacheOutput", 0), ("AOTCache", 1), ("AOT", 0)]
            .into_iter()
            .enumerate()
        {
            let (flag, text, place) = (0x100 + at * 32, 0x1000 + at * 64, 0x2000 + at * 8);
            memory.put_word(flag + layout.name, text);
            memory.put(text, name.as_bytes());
            memory.put(text + name.len(), &[0]);
            memory.put_word(flag + layout.value, place);
            memory.put_word(place, value);
        }
        assert_eq!(layout.is_given(&memory, "AOTCache"), Some(true));
        assert_eq!(layout.is_given(&memory, "AOTCacheOutput"), Some(false));
        assert_eq!(layout.is_given(&memory, "AOT"), Some(false));
        assert_eq!(layout.is_given(&memory, "AOTC"), None);
    }
}
