//! The VM's flags, by name (`share/runtime/flags/jvmFlag.hpp`).

use super::fields::{Fields, Missing};
use crate::memory::Memory;
use oracle::record::{FlagOrigin, VmFlag};

/// More flags than any VM has.
const MOST: usize = 1 << 13;

/// No longer text is read, in bytes.
const LONGEST: usize = 1 << 12;

/// Where the VM keeps its flags.
#[derive(Copy, Clone, Debug)]
pub struct Flags {
    start: usize,
    count: usize,
    size: usize,
    name: usize,
    value: usize,
    kind: usize,
    bits: usize,
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
            kind: field("_type")?,
            bits: field("_flags")?,
        })
    }

    /// All flags, those of product builds and those to be unlocked, in the VM's order. Flags that cannot be read are left out.
    pub fn all(&self, memory: &impl Memory) -> Vec<VmFlag> {
        let flags = self.places(memory).into_iter().flatten();
        flags.filter_map(|flag| self.read(memory, flag)).collect()
    }

    fn read(&self, memory: &impl Memory, flag: usize) -> Option<VmFlag> {
        // The last one has no name.
        let name = memory.word(flag + self.name).filter(|&name| name != 0)?;
        let place = memory.word(flag + self.value)?;
        // The lowest four bits say who set it (`JVMFlag::VALUE_ORIGIN_MASK`).
        let origin = memory.u32(flag + self.bits)? & 0xf;
        Some(VmFlag {
            name: text(memory, name),
            value: value(memory, memory.u32(flag + self.kind)?, place)?,
            set_by: FlagOrigin::of_number(origin),
        })
    }

    /// Where the flags lie.
    fn places<M: Memory>(&self, memory: &M) -> Option<impl Iterator<Item = usize> + use<M>> {
        let (start, count) = (memory.word(self.start)?, memory.word(self.count)?);
        let size = self.size;
        Some((0..count.min(MOST)).map(move |at| start + at * size))
    }

    /// Where the value of the flag `name` lies; `None` if the VM has no such flag.
    fn place(&self, memory: &impl Memory, name: &str) -> Option<usize> {
        let is_it = |flag: &usize| {
            let text = memory.word(flag + self.name).filter(|&text| text != 0);
            text.is_some_and(|text| is_text(memory, text, name))
        };
        memory.word(self.places(memory)?.find(is_it)? + self.value)
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

/// The value at `place` as text. `kind` is a number of `JVMFlag::FlagType`, which counts the types in the order of
/// `JVM_FLAG_NON_STRING_TYPES_DO` and `JVM_FLAG_STRING_TYPES_DO` (`share/runtime/flags/jvmFlag.hpp`): bool, int, uint, intx, uintx,
/// uint64_t, size_t, double, ccstr, ccstrlist.
fn value(memory: &impl Memory, kind: u32, place: usize) -> Option<String> {
    Some(match kind {
        0 => (memory.u8(place)? != 0).to_string(),
        1 => memory.i32(place)?.to_string(),
        2 => memory.u32(place)?.to_string(),
        3 => memory.word(place)?.cast_signed().to_string(),
        4..=6 => memory.word(place)?.to_string(),
        7 => f64::from_bits(memory.word(place)? as u64).to_string(),
        8 | 9 => match memory.word(place)? {
            0 => String::new(),
            address => text(memory, address),
        },
        _ => return None,
    })
}

/// The zero-terminated text at `address`, as far as it can be read.
fn text(memory: &impl Memory, address: usize) -> String {
    let mut bytes = vec![];
    while bytes.len() < LONGEST {
        let part = memory.code(address + bytes.len());
        let length = part.iter().position(|&byte| byte == 0);
        bytes.extend(&part[..length.unwrap_or(part.len())]);
        if length.is_some() {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
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
        kind: 24,
        bits: 28,
    };

    /// A VM with these flags, numbers of `uintx`.
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
            memory.put(flag + LAYOUT.kind, &4u32.to_ne_bytes());
            memory.put(flag + LAYOUT.bits, &0x105u32.to_ne_bytes());
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

    #[test]
    fn all_flags_are_read_with_their_values() {
        let mut memory = with(&[
            ("First", 7),
            ("Second", 0),
            ("Third", 0x7000),
            ("Fourth", 0),
            ("Fifth", 0),
        ]);
        let flag = |at: usize| 0x100 + at * 32;
        memory.put(flag(1) + LAYOUT.kind, &0u32.to_ne_bytes());
        memory.put(0x2008, &[1]);
        memory.put(flag(2) + LAYOUT.kind, &8u32.to_ne_bytes());
        memory.put(0x7000, b"a text of some length\0");
        memory.put(flag(3) + LAYOUT.kind, &3u32.to_ne_bytes());
        memory.put_word(0x2018, (-5isize).cast_unsigned());
        memory.put(flag(3) + LAYOUT.bits, &0u32.to_ne_bytes());
        // A type of a later release.
        memory.put(flag(4) + LAYOUT.kind, &10u32.to_ne_bytes());
        let all = LAYOUT.all(&memory);
        let shown: Vec<_> = all
            .iter()
            .map(|it| format!("{}={} by {}", it.name, it.value, it.set_by))
            .collect();
        assert_eq!(
            shown,
            [
                "First=7 by ergonomics",
                "Second=true by ergonomics",
                "Third=a text of some length by ergonomics",
                "Fourth=-5 by default",
            ]
        );
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
