//! Which classes are loaded (`share/classfile/classLoaderData.hpp`, `share/classfile/classLoaderDataGraph.cpp`).

use super::fields::{Fields, Missing};
use crate::memory::Memory;

/// The largest number of class loaders, and of readings of the list.
const MOST: usize = 1 << 20;
const READINGS: usize = 3;

/// The layout of what leads from a class to its loader, and of the list of loaders.
#[derive(Copy, Clone, Debug)]
pub struct LoadedClasses {
    /// Where the list begins.
    first: usize,
    next: usize,
    loader: usize,
}

impl LoadedClasses {
    /// Finds the layout.
    pub fn find(fields: &impl Fields) -> Result<LoadedClasses, Missing> {
        Ok(LoadedClasses {
            first: fields.field(&["ClassLoaderDataGraph"], "_head")?,
            next: fields.field(&["ClassLoaderData"], "_next")?,
            loader: fields.field(&["Klass"], "_class_loader_data")?,
        })
    }

    /// Whether the VM still has the class whose address was `klass`. Where the class was unloaded, the memory may be gone,
    /// or be of anything else.
    pub fn has(&self, memory: &impl Memory, klass: usize) -> bool {
        let Some(loader) = memory.word(klass.wrapping_add(self.loader)) else {
            return false;
        };
        // A class lives as long as the data of its loader, which the VM takes out of the list before it frees the
        // classes (`ClassLoaderDataGraph::do_unloading`, then `purge`). What is taken out leads into the list of those
        // that are to be freed (`dead->set_next(_unloading_head)`), so a reading that was there at that moment ends
        // early, and misses loaders that are alive: the list is read again.
        (0..READINGS).any(|_| self.loaders(memory).any(|other| other == loader))
    }

    fn loaders(&self, memory: &impl Memory) -> impl Iterator<Item = usize> {
        let read = |address: usize| memory.word(address).filter(|&loader| loader != 0);
        std::iter::successors(read(self.first), move |loader| {
            read(loader.wrapping_add(self.next))
        })
        .take(MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::fields::toy::Toy;
    use crate::memory::toy::Words;

    #[test]
    fn a_class_is_loaded_while_its_loader_is_in_the_list() {
        let layout = LoadedClasses::find(&Toy::of(&[
            ("ClassLoaderDataGraph::_head", 0x10),
            ("ClassLoaderData::_next", 0x8),
            ("Klass::_class_loader_data", 0x20),
        ]))
        .expect("a layout");
        let words = [
            (0x10, 0x1000),
            (0x1008, 0x2000),
            (0x2008, 0),
            // Classes of both loaders, of a loader that was taken out, and of none.
            (0x5020, 0x1000),
            (0x6020, 0x2000),
            (0x7020, 0x3000),
            (0x8020, 0),
        ];
        let memory = Words(words.into_iter().collect());
        let loaded =
            [0x5000, 0x6000, 0x7000, 0x8000, 0x9000].map(|klass| layout.has(&memory, klass));
        assert_eq!(loaded, [true, true, false, false, false]);
    }

    #[test]
    fn a_list_that_bites_its_tail_ends() {
        let layout = LoadedClasses {
            first: 0x10,
            next: 0x8,
            loader: 0x20,
        };
        let words = [(0x10, 0x1000), (0x1008, 0x1000), (0x5020, 0x4000)];
        assert!(!layout.has(&Words(words.into_iter().collect()), 0x5000));
    }
}
