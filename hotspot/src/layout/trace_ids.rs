//! Trace ids: numbers that the VM gives to classes as it makes them (`share/jfr/support/jfrTraceIdExtension.hpp`).
//!
//! Each class gets the next number, whether JFR runs or not (`INIT_ID` in `classFileParser.cpp` and `arrayKlass.cpp`,
//! `RESTORE_ID` for classes of an archive), and no other class gets the same number later.

use super::fields::{Fields, Missing};
use crate::memory::Memory;

/// The bits below are flags of JFR (`TRACE_ID_SHIFT`).
const SHIFT: u32 = 16;

/// How many classes are looked at, and how many there must be: the VM loads several hundred before it runs a program.
const MOST: usize = 1 << 12;
const LEAST: usize = 1 << 6;

/// `java.lang.Object` is one of the first classes.
const LARGEST_OF_FIRST: usize = 1 << 16;

const WORD: usize = size_of::<usize>();

/// Where a class has its trace id.
#[derive(Copy, Clone, Debug)]
pub struct TraceIds {
    offset: usize,
}

impl TraceIds {
    /// Finds where classes have their trace ids; `object` is the class `java.lang.Object`. No VM publishes the offset, and some are
    /// built without JFR. So it is the one word behind `Klass::_vtable_len` that has a number of its own in each class of the
    /// boot loader.
    pub fn find(
        fields: &impl Fields,
        memory: &impl Memory,
        object: usize,
    ) -> Result<TraceIds, Missing> {
        let class = |field| fields.field(&["Klass"], field);
        let [loader, next] = [class("_class_loader_data")?, class("_next_link")?];
        let first = fields.field(&["ClassLoaderData"], "_klasses")?;
        let start = class("_vtable_len")? / WORD * WORD + WORD;
        let end = fields.size("Klass")?;
        let read = |address: usize| memory.word(address).filter(|&word| word != 0);
        let newest =
            read(object.wrapping_add(loader)).and_then(|data| read(data.wrapping_add(first)));
        let classes = std::iter::successors(newest, |class| read(class.wrapping_add(next)));
        let classes: Vec<usize> = classes.take(MOST).collect();
        let offsets = (start..end).step_by(WORD);
        let mut found = offsets
            .map(|offset| TraceIds { offset })
            .filter(|ids| ids.fit(memory, object, &classes));
        match (found.next(), found.next()) {
            (Some(ids), None) => Ok(ids),
            _ => Err(Missing::Unexpected(
                "no word of a class, or more than one, has its trace id",
            )),
        }
    }

    /// The trace id of the class at `class`, without flags; `None` while the class has none.
    #[inline]
    pub fn of(&self, memory: &impl Memory, class: usize) -> Option<usize> {
        let word = memory.word(class.wrapping_add(self.offset))?;
        Some(word >> SHIFT).filter(|&id| id != 0)
    }

    /// Whether all classes have different numbers, but for a few that are being loaded.
    fn fit(&self, memory: &impl Memory, object: usize, classes: &[usize]) -> bool {
        let is_first = self
            .of(memory, object)
            .is_some_and(|id| id < LARGEST_OF_FIRST);
        let ids = classes.iter().filter_map(|&class| self.of(memory, class));
        let mut ids: Vec<usize> = ids.collect();
        let (all, some) = (classes.len(), ids.len());
        ids.sort_unstable();
        ids.dedup();
        is_first && some >= LEAST && (all - some) * 16 <= all && ids.len() == some
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::fields::toy::Toy;
    use crate::memory::toy::Words;
    use std::collections::HashMap;

    const LOADER: usize = 0x100;
    const CLASSES: usize = 0x1_0000;
    const SIZE: usize = 0x60;

    fn class(at: usize) -> usize {
        CLASSES + at * 0x1000
    }

    /// A boot loader with so many classes; the first is `java.lang.Object`. `word` says what a class has at an offset.
    fn find(count: usize, word: impl Fn(usize, usize) -> usize) -> Result<TraceIds, Missing> {
        let fields = Toy::of(&[
            ("Klass::_class_loader_data", 0x10),
            ("Klass::_next_link", 0x18),
            ("Klass::_vtable_len", 0x24),
            ("ClassLoaderData::_klasses", 0x8),
            ("Klass", SIZE as i64),
        ]);
        let mut words = HashMap::from([(LOADER + 8, class(count - 1))]);
        for at in 0..count {
            words.insert(class(at) + 0x10, LOADER);
            words.insert(class(at) + 0x18, at.checked_sub(1).map_or(0, class));
            for offset in (0x20..SIZE).step_by(WORD) {
                words.insert(class(at) + offset, word(at, offset));
            }
        }
        TraceIds::find(&fields, &Words(words), class(0))
    }

    /// As in JDK 25: nothing but the trace id is different in each class and small.
    fn usual(at: usize, offset: usize) -> usize {
        match offset {
            0x20 => (at + 1) << 32,
            0x30 => ((at + 50) << SHIFT) | (at % 7),
            0x38 => 1,
            0x40 => class(at),
            0x48 => (at % 3) << SHIFT,
            _ => 0,
        }
    }

    #[test]
    fn trace_ids_are_the_numbers_that_no_other_class_has() {
        assert_eq!(find(400, usual).expect("an offset").offset, 0x30);
        // A class that is being loaded has none yet.
        let without_newest = |at, offset| if at == 399 { 0 } else { usual(at, offset) };
        assert_eq!(find(400, without_newest).expect("an offset").offset, 0x30);
    }

    #[test]
    fn what_is_not_certain_is_refused() {
        // Too few classes, no ids, two words that may have them, and two classes with one id.
        assert!(find(20, usual).is_err());
        let without = |at, offset| if offset == 0x30 { 0 } else { usual(at, offset) };
        assert!(find(400, without).is_err());
        let twice = |at, offset| usual(at, if offset == 0x50 { 0x30 } else { offset });
        assert!(find(400, twice).is_err());
        let same = |at: usize, offset| usual(if at == 7 { 8 } else { at }, offset);
        assert!(find(400, same).is_err());
    }
}
