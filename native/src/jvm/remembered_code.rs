//! The code cache for many questions in a row.

use super::code_cache::CodeCache;
use hotspot::code::{Blob, CodeMemory};
use rustc_hash::FxBuildHasher;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;

/// The code cache, in which each address is looked up once. A look-up costs several calls of the system, and the stacks of
/// a thread have mostly the same return addresses.
///
/// The VM may put other code at an address, so this is for a short time only: until [`RememberedCode::forget`].
pub struct RememberedCode<'a> {
    cache: &'a CodeCache,
    blobs: RefCell<HashMap<usize, Option<Blob>, FxBuildHasher>>,
}

impl<'a> RememberedCode<'a> {
    /// Nothing is remembered yet.
    pub fn new(cache: &'a CodeCache) -> RememberedCode<'a> {
        RememberedCode {
            cache,
            blobs: RefCell::default(),
        }
    }

    /// Looks up everything anew from now on.
    pub fn forget(&mut self) {
        self.blobs.get_mut().clear();
    }

    /// The VM's name for the code at `address`.
    pub fn name_at(&self, address: usize) -> Option<String> {
        self.look_up(address, |blob| blob.name.clone())
    }

    /// Whether there is code at `address`.
    pub fn is_code(&self, address: usize) -> bool {
        self.look_up(address, |_| ()).is_some()
    }

    fn look_up<T>(&self, address: usize, read: impl FnOnce(&Blob) -> T) -> Option<T> {
        // Most words of a stack are none of the code cache.
        if !self.cache.contains(address) {
            return None;
        }
        let mut blobs = self.blobs.borrow_mut();
        let blob = blobs.entry(address);
        let blob = blob.or_insert_with(|| self.cache.blob(address));
        blob.as_ref().map(read)
    }
}

impl Deref for RememberedCode<'_> {
    type Target = CodeCache;

    fn deref(&self) -> &CodeCache {
        self.cache
    }
}

impl CodeMemory for RememberedCode<'_> {
    fn blob(&self, address: usize) -> Option<Blob> {
        self.look_up(address, Blob::clone)
    }

    fn method(&self, code: &Blob) -> Option<String> {
        self.cache.method(code)
    }

    fn bytes(&self, address: usize, size: usize) -> Vec<u8> {
        self.cache.bytes(address, size)
    }
}
