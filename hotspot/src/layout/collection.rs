//! Whether a collection has stopped the program (`share/gc/shared/collectedHeap.hpp`).

use super::fields::{Fields, Missing};
use crate::memory::Memory;

/// Where the VM says so.
#[derive(Copy, Clone, Debug)]
pub struct Collections {
    /// The variable with the heap.
    heap: usize,
    /// The mark in the heap, a byte.
    active: usize,
}

impl Collections {
    /// Finds the places.
    pub fn find(fields: &impl Fields) -> Result<Collections, Missing> {
        const HEAP: &[&str] = &["CollectedHeap"];
        // JDK 23 says in the name that collections beside the program do not count, which they never did.
        let active = Missing::unless(fields.field(HEAP, "_is_stw_gc_active"), || {
            fields.field(HEAP, "_is_gc_active")
        });
        Ok(Collections {
            heap: fields.field(&["Universe"], "_collectedHeap")?,
            active: active?,
        })
    }

    /// Whether a collection is under way for which all threads that run Java code have stopped.
    pub fn stops_program(&self, memory: &impl Memory) -> Option<bool> {
        let heap = memory.word(self.heap).filter(|&heap| heap != 0)?;
        Some(memory.u8(heap.wrapping_add(self.active))? != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::fields::toy::Toy;
    use crate::memory::toy::Words;

    #[test]
    fn the_heap_says_whether_a_collection_is_under_way() {
        for name in [
            "CollectedHeap::_is_stw_gc_active",
            "CollectedHeap::_is_gc_active",
        ] {
            let vm = Toy::of(&[("Universe::_collectedHeap", 0x10), (name, 0x30)]);
            let collections = Collections::find(&vm).expect("a layout");
            let stops = |heap, active| {
                let memory = Words([(0x10, heap), (0x1030, active)].into_iter().collect());
                collections.stops_program(&memory)
            };
            assert_eq!(stops(0x1000, 1), Some(true));
            assert_eq!(stops(0x1000, 0), Some(false));
            assert_eq!(stops(0, 1), None, "before there is a heap");
        }
    }
}
