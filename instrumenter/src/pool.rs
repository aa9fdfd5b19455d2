//! The constant pool (JVMS 4.4), and the constants that a rewrite appends to it.

use crate::error::{Malformed, Result};
use crate::reader::Reader;
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Tags of the constants, JVMS table 4.4-A.
pub mod tag {
    #![allow(missing_docs)]
    pub const UTF8: u8 = 1;
    pub const INTEGER: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const LONG: u8 = 5;
    pub const DOUBLE: u8 = 6;
    pub const CLASS: u8 = 7;
    pub const STRING: u8 = 8;
    pub const FIELD: u8 = 9;
    pub const METHOD: u8 = 10;
    pub const INTERFACE_METHOD: u8 = 11;
    pub const NAME_AND_TYPE: u8 = 12;
    pub const METHOD_HANDLE: u8 = 15;
    pub const METHOD_TYPE: u8 = 16;
    pub const DYNAMIC: u8 = 17;
    pub const INVOKE_DYNAMIC: u8 = 18;
    pub const MODULE: u8 = 19;
    pub const PACKAGE: u8 = 20;
}

/// A field, method or interface method that a constant names (JVMS 4.4.2), as the file's bytes
/// (modified UTF-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberRef<'a> {
    /// Internal name of the class; empty for `invokedynamic` and dynamic constants.
    pub class: &'a [u8],
    /// Name of the member.
    pub name: &'a [u8],
    /// Descriptor of the member.
    pub descriptor: &'a [u8],
}

/// The constant pool of a class file; it borrows the file and keeps only where each constant is.
#[derive(Clone, Debug)]
pub struct ConstantPool<'a> {
    file: &'a [u8],
    /// Offset in the file of each constant's tag; 0 where there is none.
    offsets: Vec<u32>,
    /// Offset in the file right after the last constant.
    end: usize,
}

impl<'a> ConstantPool<'a> {
    /// Reads the pool, count included.
    pub fn parse(file: &'a [u8], r: &mut Reader<'a>) -> Result<Self> {
        let count = r.u2()? as usize;
        if count == 0 {
            return Err(r.malformed("JVMS 4.1: constant_pool_count is at least 1"));
        }
        // Each constant takes three bytes or more: a count that the file can't hold is refused
        // before anything is allocated for it.
        if r.left() / 2 < count / 2 {
            return Err(r.malformed("JVMS 4.1: constant_pool_count is larger than the file"));
        }
        let mut offsets = Vec::with_capacity(count);
        offsets.push(0);
        while offsets.len() < count {
            let at = r.pos();
            let tag = r.u1()?;
            offsets.push(at as u32);
            match tag {
                tag::UTF8 => {
                    let n = r.u2()? as usize;
                    r.take(n)?;
                }
                tag::CLASS | tag::STRING | tag::METHOD_TYPE | tag::MODULE | tag::PACKAGE => {
                    r.take(2)?;
                }
                tag::METHOD_HANDLE => {
                    r.take(3)?;
                }
                tag::INTEGER
                | tag::FLOAT
                | tag::FIELD
                | tag::METHOD
                | tag::INTERFACE_METHOD
                | tag::NAME_AND_TYPE
                | tag::DYNAMIC
                | tag::INVOKE_DYNAMIC => {
                    r.take(4)?;
                }
                tag::LONG | tag::DOUBLE => {
                    r.take(8)?;
                    if offsets.len() == count {
                        return Err(Malformed {
                            offset: at,
                            rule: "JVMS 4.4.5: a long or double takes two indices",
                        });
                    }
                    offsets.push(0);
                }
                _ => {
                    return Err(Malformed {
                        offset: at,
                        rule: "JVMS 4.4: unknown constant tag",
                    });
                }
            }
        }
        Ok(Self {
            file,
            offsets,
            end: r.pos(),
        })
    }

    /// `constant_pool_count`: one more than the largest index.
    pub fn count(&self) -> u16 {
        self.offsets.len() as u16
    }

    /// Offset in the file right after the last constant.
    pub fn end(&self) -> usize {
        self.end
    }

    /// The tag of a constant; `None` for 0, an index out of range and the second index of a long.
    #[inline]
    pub fn tag(&self, index: u16) -> Option<u8> {
        match self.offsets.get(index as usize) {
            Some(&at) if at != 0 => Some(self.file[at as usize]),
            _ => None,
        }
    }

    #[inline]
    fn body(&self, index: u16, tag: u8) -> Option<usize> {
        match self.offsets.get(index as usize) {
            Some(&at) if at != 0 && self.file[at as usize] == tag => Some(at as usize + 1),
            _ => None,
        }
    }

    #[inline]
    fn u2_at(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.file[at], self.file[at + 1]])
    }

    /// The bytes (modified UTF-8, JVMS 4.4.7) of a `CONSTANT_Utf8`.
    #[inline]
    pub fn utf8(&self, index: u16) -> Option<&'a [u8]> {
        let at = self.body(index, tag::UTF8)?;
        let n = self.u2_at(at) as usize;
        Some(&self.file[at + 2..at + 2 + n])
    }

    /// The internal name behind a `CONSTANT_Class`.
    pub fn class_name(&self, index: u16) -> Option<&'a [u8]> {
        self.utf8(self.u2_at(self.body(index, tag::CLASS)?))
    }

    /// Name and descriptor behind a `CONSTANT_NameAndType`.
    pub fn name_and_type(&self, index: u16) -> Option<(&'a [u8], &'a [u8])> {
        let at = self.body(index, tag::NAME_AND_TYPE)?;
        Some((self.utf8(self.u2_at(at))?, self.utf8(self.u2_at(at + 2))?))
    }

    /// The member behind a field, method or interface-method constant, or the name and descriptor
    /// behind a dynamic one.
    pub fn member(&self, index: u16) -> Option<MemberRef<'a>> {
        let at = *self.offsets.get(index as usize)? as usize;
        if at == 0 {
            return None;
        }
        let class = match self.file[at] {
            tag::FIELD | tag::METHOD | tag::INTERFACE_METHOD => {
                self.class_name(self.u2_at(at + 1))?
            }
            tag::DYNAMIC | tag::INVOKE_DYNAMIC => b"",
            _ => return None,
        };
        let (name, descriptor) = self.name_and_type(self.u2_at(at + 3))?;
        Some(MemberRef {
            class,
            name,
            descriptor,
        })
    }

    /// The descriptor of the type of a constant that `ldc` loads, in a form that fits
    /// [`crate::simulate`]: `None` if it can't be loaded.
    pub(crate) fn loadable(&self, index: u16) -> Option<&'a [u8]> {
        Some(match self.tag(index)? {
            tag::INTEGER => b"I",
            tag::FLOAT => b"F",
            tag::LONG => b"J",
            tag::DOUBLE => b"D",
            tag::CLASS => b"Ljava/lang/Class;",
            tag::STRING => b"Ljava/lang/String;",
            tag::METHOD_HANDLE => b"Ljava/lang/invoke/MethodHandle;",
            tag::METHOD_TYPE => b"Ljava/lang/invoke/MethodType;",
            tag::DYNAMIC => self.member(index)?.descriptor,
            _ => return None,
        })
    }
}

/// FNV-like hashing of short byte strings: the names in a class file are not worth SipHash.
#[derive(Default)]
pub(crate) struct NameHasher(u64);

impl Hasher for NameHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        let mut h = self.0;
        let (words, rest) = bytes.as_chunks::<8>();
        for w in words {
            h = (h ^ u64::from_le_bytes(*w))
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .rotate_left(29);
        }
        for &b in rest {
            h = (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01B3);
        }
        self.0 = h ^ (h >> 31);
    }
    fn write_u16(&mut self, n: u16) {
        self.0 = (self.0 ^ u64::from(n))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(29);
    }
}

pub(crate) type NameMap<K, V> = HashMap<K, V, BuildHasherDefault<NameHasher>>;

/// No room for another constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PoolFull;

/// Constants to be appended to a pool. Indices of the existing constants stay as they are.
#[derive(Debug)]
pub(crate) struct Additions<'p, 'a> {
    pool: &'p ConstantPool<'a>,
    bytes: Vec<u8>,
    count: u32,
    /// Class constants by name, those of the file included; built at the first question.
    classes: Option<NameMap<Cow<'a, [u8]>, u16>>,
}

impl<'p, 'a> Additions<'p, 'a> {
    pub(crate) fn new(pool: &'p ConstantPool<'a>) -> Self {
        Self {
            pool,
            bytes: Vec::new(),
            count: u32::from(pool.count()),
            classes: None,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The new `constant_pool_count`.
    pub(crate) fn count(&self) -> u16 {
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

    pub(crate) fn utf8(&mut self, text: &[u8]) -> Result<u16, PoolFull> {
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

    pub(crate) fn new_class(&mut self, name: &[u8]) -> Result<u16, PoolFull> {
        let text = self.utf8(name)?;
        let index = self.index()?;
        self.bytes.push(tag::CLASS);
        self.bytes.extend_from_slice(&text.to_be_bytes());
        Ok(index)
    }

    /// The class constant with this name: one of the file, one added before, or a new one.
    pub(crate) fn class(&mut self, name: Cow<'a, [u8]>) -> Result<u16, PoolFull> {
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
    pub(crate) fn class_name(&self, index: u16) -> Option<Cow<'a, [u8]>> {
        if index < self.pool.count() {
            return self.pool.class_name(index).map(Cow::Borrowed);
        }
        let (name, _) = self.classes.as_ref()?.iter().find(|&(_, &i)| i == index)?;
        Some(name.clone())
    }

    pub(crate) fn method(
        &mut self,
        class: u16,
        name: &[u8],
        descriptor: &[u8],
    ) -> Result<u16, PoolFull> {
        let name = self.utf8(name)?;
        let descriptor = self.utf8(descriptor)?;
        let name_and_type = self.pair(tag::NAME_AND_TYPE, name, descriptor)?;
        self.pair(tag::METHOD, class, name_and_type)
    }
}
