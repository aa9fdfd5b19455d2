//! The VM's flags, by name (`share/runtime/flags/jvmFlag.hpp`).

use super::fields::{Fields, Missing};
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
    /// Finds the layout.
    pub fn find(fields: &impl Fields) -> Result<Flags, Missing> {
        let field = |field| fields.field(&["JVMFlag"], field);
        Ok(Flags {
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

    /// Whether the flag `name`, a truth value, is set.
    pub fn is_set(&self, memory: &impl Memory, name: &str) -> Option<bool> {
        Some(memory.u8(self.place(memory, name)?)? != 0)
    }

    /// The value of the flag `name`, a number of 64 bits.
    fn number(&self, memory: &impl Memory, name: &str) -> Option<usize> {
        memory.word(self.place(memory, name)?)
    }

    /// How many frames of one method a compiled frame may stand for, its own frame included
    /// (`share/opto/bytecodeInfo.cpp`, `share/c1/c1_GraphBuilder.cpp`); `None` if another compiler than C1 and C2 is
    /// used, or the VM has no such limit.
    pub fn most_inlined_alike(&self, memory: &impl Memory) -> Option<usize> {
        if self.is_set(memory, "UseJVMCICompiler") == Some(true) {
            return None;
        }
        let number = |name| self.number(memory, name);
        // VMs have one compiler or both.
        let c2 = number("MaxRecursiveInlineLevel");
        let c1 = number("C1MaxRecursiveInlineLevel");
        Some(c1.max(c2)?.saturating_add(1))
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
    }

    impl Memory for Bytes {
        fn u8(&self, address: usize) -> Option<u8> {
            self.0.get(&address).copied()
        }
    }

    const LAYOUT: Flags = Flags {
        start: 0x10,
        count: 0x18,
        size: 32,
        name: 8,
        value: 16,
    };

    /// A VM with these flags.
    fn with(flags: &[(&str, usize)]) -> Bytes {
        let mut memory = Bytes(HashMap::new());
        memory.put_word(LAYOUT.start, 0x100);
        memory.put_word(LAYOUT.count, flags.len());
        for (at, &(name, value)) in flags.iter().enumerate() {
            let (flag, text, place) = (0x100 + at * 32, 0x1000 + at * 64, 0x2000 + at * 8);
            memory.put_word(flag + LAYOUT.name, text);
            memory.put(text, name.as_bytes());
            memory.put(text + name.len(), &[0]);
            memory.put_word(flag + LAYOUT.value, place);
            memory.put_word(place, value);
        }
        memory
    }

    #[test]
    fn flags_are_found_by_their_whole_name() {
        let memory = with(&[("AOTCacheOutput", 0), ("AOTCache", 1), ("AOT", 0)]);
        assert_eq!(LAYOUT.is_given(&memory, "AOTCache"), Some(true));
        assert_eq!(LAYOUT.is_given(&memory, "AOTCacheOutput"), Some(false));
        assert_eq!(LAYOUT.is_given(&memory, "AOT"), Some(false));
        assert_eq!(LAYOUT.is_given(&memory, "AOTC"), None);
    }

    fn inlined_alike(flags: &[(&str, usize)]) -> Option<usize> {
        LAYOUT.most_inlined_alike(&with(flags))
    }

    #[test]
    fn the_compilers_limit_recursive_inlining() {
        let (c2, c1) = ("MaxRecursiveInlineLevel", "C1MaxRecursiveInlineLevel");
        assert_eq!(inlined_alike(&[(c1, 1), (c2, 1)]), Some(2));
        assert_eq!(inlined_alike(&[(c1, 3), (c2, 1)]), Some(4));
        assert_eq!(inlined_alike(&[(c2, 0)]), Some(1));
        assert_eq!(inlined_alike(&[("AOT", 0)]), None);
        let jvmci = ("UseJVMCICompiler", 1);
        assert_eq!(inlined_alike(&[jvmci, (c1, 1), (c2, 1)]), None);
    }
}
