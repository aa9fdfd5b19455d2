//! The method ids that the VM keeps of unloaded classes.
//!
//! HotSpot before JDK 26 clears these ids, and never frees them (`~ClassLoaderData` in
//! `share/classfile/classLoaderData.cpp`; JDK-8268406). AsyncGetCallTrace names only methods that have ids, so the
//! agent has the ids of every class made. In a program that loads and unloads classes for ever, they would fill the
//! memory: from some amount on, that of 28,000 classes of up to eight methods, new classes that can be unloaded get none.

use oracle::record::MOST_KEPT_IDS;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// The fewest ids that the VM makes room for at once (`JNIMethodBlock` in `share/oops/method.cpp`), each with a
/// pointer.
const FEWEST: usize = 8;

/// What the VM and the C library need beside the ids.
const BESIDE: usize = 48;

/// The first JDK whose ids are numbers, which it frees.
const FREES: u32 = 26;

/// The memory that the VM keeps for the ids of unloaded classes.
#[derive(Debug)]
pub struct KeptIds {
    /// An upper bound: classes of one loader may share the room for ids.
    bytes: AtomicUsize,
    are_freed: bool,
}

impl KeptIds {
    /// None yet, in a VM of this feature release; 0 if that is not known.
    pub fn new(feature: u32) -> KeptIds {
        KeptIds {
            bytes: AtomicUsize::new(0),
            are_freed: feature >= FREES,
        }
    }

    /// A class was unloaded whose methods had this many ids.
    pub fn unloaded(&self, ids: usize) {
        if ids > 0 {
            let bytes = ids.max(FEWEST) * size_of::<usize>() + BESIDE;
            self.bytes.fetch_add(bytes, Relaxed);
        }
    }

    /// Whether ids are numbers, in the order in which the VM makes them.
    pub fn are_numbers(&self) -> bool {
        self.are_freed
    }

    /// Whether they take so much memory that new classes get no ids any more. Once this is so, it stays so.
    pub fn are_too_many(&self) -> bool {
        !self.are_freed && self.bytes.load(Relaxed) >= MOST_KEPT_IDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ids_of_unloaded_classes_take_only_so_much_memory() {
        let kept = KeptIds::new(25);
        let per_class = FEWEST * 8 + BESIDE;
        for _ in 0..MOST_KEPT_IDS.div_ceil(per_class) {
            assert!(!kept.are_too_many());
            kept.unloaded(1);
            kept.unloaded(0);
        }
        assert!(kept.are_too_many());
    }

    #[test]
    fn ids_that_are_freed_are_never_too_many() {
        let kept = KeptIds::new(26);
        kept.unloaded(MOST_KEPT_IDS);
        assert!(!kept.are_too_many());
        let unknown = KeptIds::new(0);
        unknown.unloaded(MOST_KEPT_IDS);
        assert!(unknown.are_too_many());
    }
}
