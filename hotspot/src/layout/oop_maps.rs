//! The oop maps of compiled code: where it may stop for the collector (`share/compiler/oopMap.hpp`).
//!
//! Calls that may be at a safepoint, and polls, have an oop map and a debug info record. With
//! `-XX:+DebugNonSafepoints`, or while an agent listens to CompiledMethodLoad, the compilers write records for all other
//! instructions, too: such records have no oop map.

use super::fields::{Fields, Missing};
use super::nmethod::Nmethod;
use crate::memory::Memory;

/// `sizeof(ImmutableOopMapPair)`: the program counter, and where the map is.
const PAIR: usize = 8;

/// A limit that no compiled method reaches.
const MOST_PAIRS: usize = 1 << 20;

/// The layout of the maps of a blob.
#[derive(Copy, Clone, Debug)]
pub struct Layout {
    /// Of the blob: the address of its set of maps.
    maps: usize,
    /// Of a set: the number of its pairs.
    count: usize,
    /// Of a set: its pairs, sorted by program counter.
    pairs: usize,
}

impl Layout {
    /// Finds the layout.
    pub fn find(tables: &impl Fields) -> Result<Layout, Missing> {
        let name = "ImmutableOopMapPair";
        let found = tables.size(name)?;
        if found != PAIR || tables.field(&["ImmutableOopMapPair"], "_pc_offset")? != 0 {
            let known = PAIR;
            return Err(Missing::Size { name, found, known });
        }
        Ok(Layout {
            maps: tables.field(&["CodeBlob"], "_oop_maps")?,
            count: tables.field(&["ImmutableOopMapSet"], "_count")?,
            pairs: tables.size("ImmutableOopMapSet")?,
        })
    }

    /// Whether `nmethod` has an oop map at `pc_offset`, a distance from the start of its code.
    pub fn has_map(&self, memory: &impl Memory, nmethod: Nmethod, pc_offset: i32) -> Option<bool> {
        let set = memory.word(nmethod.0.wrapping_add(self.maps))?;
        if set == 0 {
            return Some(false);
        }
        let count = usize::try_from(memory.i32(set.wrapping_add(self.count))?).ok()?;
        let pairs = set.wrapping_add(self.pairs);
        let (mut low, mut high) = (0, count.min(MOST_PAIRS));
        while low < high {
            let middle = low.midpoint(high);
            let found = memory.i32(pairs.wrapping_add(middle.wrapping_mul(PAIR)))?;
            if found == pc_offset {
                return Some(true);
            } else if found < pc_offset {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::toy::Words;
    use std::collections::HashMap;

    #[test]
    fn each_map_is_found_and_nothing_between() {
        let layout = Layout {
            maps: 0x18,
            count: 0,
            pairs: 8,
        };
        // The set has three pairs: the program counter, and where the map is.
        let memory = Words(HashMap::from([
            (0x1018, 0x2000),
            (0x2000, 3),
            (0x2008, 0x10),
            (0x2010, 0x24),
            (0x2018, 0x51),
        ]));
        let has = |offset| layout.has_map(&memory, Nmethod(0x1000), offset);
        for offset in [0x10, 0x24, 0x51] {
            assert_eq!(has(offset), Some(true), "{offset}");
        }
        for offset in [-1, 0x11, 0x23, 0x52] {
            assert_eq!(has(offset), Some(false), "{offset}");
        }
        let memory = Words(HashMap::from([(0x1018, 0)]));
        let has = layout.has_map(&memory, Nmethod(0x1000), 0x10);
        assert_eq!(has, Some(false), "code without maps");
    }
}
