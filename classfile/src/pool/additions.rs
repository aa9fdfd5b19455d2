//! New constants for an edited class.

use super::constants::{ConstantPool, tag};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// No room for another constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolFull;

/// Constants to be appended to a pool. Indices of existing constants do not change.
#[derive(Debug)]
pub struct Additions<'p, 'a> {
    pool: &'p ConstantPool<'a>,
    bytes: Vec<u8>,
    count: u32,
    /// Class constants by name, with those of the file; built when first needed.
    classes: Option<FxHashMap<Cow<'a, [u8]>, u16>>,
}

impl<'p, 'a> Additions<'p, 'a> {
    /// No new constants yet.
    pub fn new(pool: &'p ConstantPool<'a>) -> Self {
        Self {
            pool,
            bytes: Vec::new(),
            count: u32::from(pool.count()),
            classes: None,
        }
    }

    /// The new constants, in the format of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The new `constant_pool_count`.
    pub fn count(&self) -> u16 {
        self.count as u16
    }

    fn index(&mut self) -> Result<u16, PoolFull> {
        // The count is a u2 and one more than the largest index.
        if self.count >= 65535 {
            return Err(PoolFull);
        }
        self.count += 1;
        Ok((self.count - 1) as u16)
    }

    /// A new `CONSTANT_Utf8`.
    pub fn utf8(&mut self, text: &[u8]) -> Result<u16, PoolFull> {
        let n = u16::try_from(text.len()).map_err(|_| PoolFull)?;
        let index = self.index()?;
        self.bytes.push(tag::UTF8);
        self.bytes.extend_from_slice(&n.to_be_bytes());
        self.bytes.extend_from_slice(text);
        Ok(index)
    }

    fn pair(&mut self, tag: u8, a: u16, b: u16) -> Result<u16, PoolFull> {
        let index = self.index()?;
        self.bytes.push(tag);
        self.bytes.extend_from_slice(&a.to_be_bytes());
        self.bytes.extend_from_slice(&b.to_be_bytes());
        Ok(index)
    }

    /// A new `CONSTANT_Class`.
    pub fn new_class(&mut self, name: &[u8]) -> Result<u16, PoolFull> {
        let text = self.utf8(name)?;
        let index = self.index()?;
        self.bytes.push(tag::CLASS);
        self.bytes.extend_from_slice(&text.to_be_bytes());
        Ok(index)
    }

    /// The class constant with this name: one of the file, one added before, or a new one.
    pub fn class(&mut self, name: Cow<'a, [u8]>) -> Result<u16, PoolFull> {
        let pool = self.pool;
        let classes = self.classes.get_or_insert_with(|| {
            (1..pool.count())
                .filter_map(|i| Some((Cow::Borrowed(pool.class_name(i)?), i)))
                .collect()
        });
        if let Some(&index) = classes.get(&name) {
            return Ok(index);
        }
        let index = self.new_class(&name)?;
        if let Some(classes) = &mut self.classes {
            classes.insert(name, index);
        }
        Ok(index)
    }

    /// The name of a class constant of the file, or of one that [`Self::class`] added.
    pub fn class_name(&self, index: u16) -> Option<Cow<'a, [u8]>> {
        if index < self.pool.count() {
            return self.pool.class_name(index).map(Cow::Borrowed);
        }
        let (name, _) = self.classes.as_ref()?.iter().find(|&(_, &i)| i == index)?;
        Some(name.clone())
    }

    /// A new `CONSTANT_Methodref` of the class with this index.
    pub fn method(&mut self, class: u16, name: &[u8], descriptor: &[u8]) -> Result<u16, PoolFull> {
        let name = self.utf8(name)?;
        let descriptor = self.utf8(descriptor)?;
        let name_and_type = self.pair(tag::NAME_AND_TYPE, name, descriptor)?;
        self.pair(tag::METHOD, class, name_and_type)
    }
}
