//! Attributes (JVMS 4.7).

use crate::error::{Malformed, Result};
use crate::pool::ConstantPool;
use crate::reader::Reader;

/// An attribute, its content raw.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    /// Index of its name in the constant pool.
    pub name_index: u16,
    /// Its name.
    pub name: &'a [u8],
    /// Its content.
    pub info: &'a [u8],
    /// Offset in the file of its content.
    pub offset: usize,
}

impl<'a> Attribute<'a> {
    fn parse(pool: &ConstantPool<'a>, r: &mut Reader<'a>) -> Result<Self> {
        let name_index = r.u2()?;
        let Some(name) = pool.utf8(name_index) else {
            return Err(Malformed {
                offset: r.pos() - 2,
                rule: "JVMS 4.7: an attribute's name is a CONSTANT_Utf8",
            });
        };
        let n = r.u4()? as usize;
        let offset = r.pos();
        Ok(Self {
            name_index,
            name,
            info: r.take(n)?,
            offset,
        })
    }

    /// Writes the attribute as it was read.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.name_index.to_be_bytes());
        out.extend_from_slice(&(self.info.len() as u32).to_be_bytes());
        out.extend_from_slice(self.info);
    }

    /// A cursor over its content; `file` is the whole class file.
    #[inline]
    pub fn reader(&self, file: &'a [u8]) -> Reader<'a> {
        Reader::over(file, self.offset, self.offset + self.info.len())
    }
}

/// A table of attributes.
pub(super) fn attributes<'a>(
    pool: &ConstantPool<'a>,
    r: &mut Reader<'a>,
) -> Result<Vec<Attribute<'a>>> {
    let n = r.u2()? as usize;
    let mut all = Vec::with_capacity(n.min(r.left() / 6));
    for _ in 0..n {
        all.push(Attribute::parse(pool, r)?);
    }
    Ok(all)
}
