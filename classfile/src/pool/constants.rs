//! The constant pool (JVMS 4.4), read.

use crate::error::{Malformed, Result};
use crate::reader::Reader;

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

    /// The field descriptor of a constant that `ldc` loads (JVMS table 5.1-A): `None` if it can't be
    /// loaded.
    pub fn loadable(&self, index: u16) -> Option<&'a [u8]> {
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
