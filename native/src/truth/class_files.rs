//! Class files that were loaded, until the sampler reads them.

use crate::locks::lock;
use std::sync::Mutex;

/// The queue of class files. The program's threads only add to it.
#[derive(Default)]
pub struct ClassFiles(Mutex<Vec<Box<[u8]>>>);

impl ClassFiles {
    /// The VM is about to load this class.
    pub fn loaded(&self, class_file: &[u8]) {
        let class_file = class_file.into();
        self.waiting(|waiting| waiting.push(class_file));
    }

    /// The class files that were loaded since the last call.
    pub fn take(&self) -> Vec<Box<[u8]>> {
        self.waiting(std::mem::take)
    }

    fn waiting<T>(&self, change: impl FnOnce(&mut Vec<Box<[u8]>>) -> T) -> T {
        change(&mut lock(&self.0))
    }
}
