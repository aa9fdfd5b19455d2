//! Which classes are loaded (`share/classfile/classLoaderData.hpp`, `share/classfile/classLoaderDataGraph.cpp`).

use super::fields::{Fields, Missing};
use crate::memory::Memory;

/// The largest number of class loaders, and of readings of the list.
const MOST: usize = 1 << 20;
const READINGS: usize = 3;

/// Boot loader, platform loader and system loader.
const LASTING: usize = 3;

/// The layout of what leads from a class to its loader, and of the list of loaders.
#[derive(Copy, Clone, Debug)]
pub struct LoadedClasses {
    /// Where the list begins.
    first: usize,
    next: usize,
    loader: usize,
    /// Where the data of a loader refers to its object. Without it, only the boot loader is told from others.
    object: Option<usize>,
    /// The loaders that the VM never unloads, or 0.
    lasting: [usize; LASTING],
}

impl LoadedClasses {
    /// Finds the layout.
    pub fn find(fields: &impl Fields) -> Result<LoadedClasses, Missing> {
        Ok(LoadedClasses {
            first: fields.field(&["ClassLoaderDataGraph"], "_head")?,
            next: fields.field(&["ClassLoaderData"], "_next")?,
            loader: fields.field(&["Klass"], "_class_loader_data")?,
            object: fields.field(&["ClassLoaderData"], "_class_loader").ok(),
            lasting: [0; LASTING],
        })
    }

    /// Remembers the loaders that the VM never unloads: that of `boot_class`, a class of the boot loader, and those to
    /// whose objects the handles at `handles` refer, which something must hold for good.
    ///
    /// The VM puts new loaders at the front of its list (`ClassLoaderDataGraph::add_to_graph`), so the three that have most
    /// of the classes are its last, and behind thousands of others in a program that makes loaders.
    pub fn remember_lasting(&mut self, memory: &impl Memory, boot_class: usize, handles: &[usize]) {
        let boot = memory.word(boot_class.wrapping_add(self.loader));
        let others = handles
            .iter()
            .map(|&handle| self.loader_of_object(memory, handle));
        let found = std::iter::once(boot).chain(others);
        let mut lasting = [0; LASTING];
        for (place, loader) in lasting.iter_mut().zip(found) {
            *place = loader.unwrap_or(0);
        }
        self.lasting = lasting;
    }

    /// The data of the loader to whose object the handle at `handle` refers.
    fn loader_of_object(&self, memory: &impl Memory, handle: usize) -> Option<usize> {
        let field = self.object?;
        // A collection may move the object between the two readings.
        (0..READINGS).find_map(|_| {
            let object = memory.word(handle).filter(|&object| object != 0)?;
            self.loaders(memory).find(|loader| {
                // `OopHandle` (`share/oops/oopHandle.hpp`) is the address of the reference.
                let handle = memory.word(loader.wrapping_add(field));
                handle.and_then(|handle| memory.word(handle)) == Some(object)
            })
        })
    }

    /// Whether the VM still has the class whose address was `klass`. Where the class was unloaded, the memory may be gone,
    /// or be of anything else.
    pub fn has(&self, memory: &impl Memory, klass: usize) -> bool {
        let loader = memory.word(klass.wrapping_add(self.loader));
        let Some(loader) = loader.filter(|&loader| loader != 0) else {
            return false;
        };
        if self.lasting.contains(&loader) {
            return true;
        }
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
    fn classes_of_lasting_loaders_need_no_list() {
        let mut layout = LoadedClasses::find(&Toy::of(&[
            ("ClassLoaderDataGraph::_head", 0x10),
            ("ClassLoaderData::_next", 0x8),
            ("ClassLoaderData::_class_loader", 0x18),
            ("Klass::_class_loader_data", 0x20),
        ]))
        .expect("a layout");
        // Three loaders. The boot loader, the last, has no object.
        let mut words: std::collections::HashMap<usize, usize> = [
            (0x10, 0x1000),
            (0x1008, 0x2000),
            (0x2008, 0x3000),
            (0x3008, 0),
            (0x1018, 0x1100),
            (0x1100, 0xa1),
            (0x2018, 0x2100),
            (0x2100, 0xa2),
            (0x3018, 0),
            (0x5020, 0x1000),
            (0x6020, 0x2000),
            (0x7020, 0x3000),
            (0x8020, 0),
            // Handles: of the object of the second loader, of an object that is no loader, and of none.
            (0x20, 0xa2),
            (0x28, 0xa9),
            (0x30, 0),
        ]
        .into_iter()
        .collect();
        layout.remember_lasting(&Words(words.clone()), 0x7000, &[0x28, 0x20]);
        words.remove(&0x10);
        let memory = Words(words.clone());
        let loaded = [0x5000, 0x6000, 0x7000, 0x8000].map(|klass| layout.has(&memory, klass));
        assert_eq!(loaded, [false, true, true, false]);
        // Nothing is remembered of what is not there.
        layout.remember_lasting(&memory, 0x9000, &[0x30, 0x38]);
        let loaded = [0x5000, 0x6000, 0x7000, 0x8000].map(|klass| layout.has(&memory, klass));
        assert_eq!(loaded, [false; 4]);
    }

    #[test]
    fn a_list_that_bites_its_tail_ends() {
        let layout = LoadedClasses {
            first: 0x10,
            next: 0x8,
            loader: 0x20,
            object: None,
            lasting: [0; LASTING],
        };
        let words = [(0x10, 0x1000), (0x1008, 0x1000), (0x5020, 0x4000)];
        assert!(!layout.has(&Words(words.into_iter().collect()), 0x5000));
    }
}
