//! Interned names of classes and methods.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// An interned class name.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassName(pub(super) u32);

/// An interned name and descriptor of a method.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature(pub(super) u32);

/// An interned method: class, name and descriptor. Its class need not be known.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodId(pub(super) u32);

impl MethodId {
    /// Its index among the methods of its [`super::World`], from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The method with this index. It must be a method of the [`super::World`] with which it is
    /// used.
    pub fn from_index(index: usize) -> MethodId {
        MethodId(index as u32)
    }
}

/// The parts of a [`MethodId`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Method {
    pub(super) class: ClassName,
    pub(super) signature: Signature,
}

/// Interned values of one type, numbered from 0.
#[derive(Clone, Debug)]
pub(super) struct Table<T> {
    pub(super) numbers: HashMap<T, u32>,
    pub(super) values: Vec<T>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table {
            numbers: HashMap::new(),
            values: Vec::new(),
        }
    }
}

impl<T: Clone + Eq + Hash> Table<T> {
    pub(super) fn number(&mut self, value: T) -> u32 {
        *self.numbers.entry(value).or_insert_with_key(|value| {
            self.values.push(value.clone());
            self.values.len() as u32 - 1
        })
    }
}

pub(super) type Text = Arc<[u8]>;

impl Table<Text> {
    pub(super) fn text(&mut self, bytes: &[u8]) -> u32 {
        match self.numbers.get(bytes) {
            Some(&number) => number,
            None => self.number(bytes.into()),
        }
    }
}

/// The package of a class, with slashes; empty for the unnamed package.
pub fn package(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|&b| b == b'/');
    &name[..end.unwrap_or(0)]
}
