//! Fields and methods (JVMS 4.5, 4.6).

use super::attribute::{Attribute, attributes};
use crate::error::{Malformed, Result};
use crate::pool::ConstantPool;
use crate::reader::Reader;

/// A field or method (JVMS 4.5, 4.6).
#[derive(Clone, Debug)]
pub struct Member<'a> {
    /// Its access flags, all bits.
    pub access_flags: u16,
    /// Index of its name.
    pub name_index: u16,
    /// Index of its descriptor.
    pub descriptor_index: u16,
    /// Its name.
    pub name: &'a [u8],
    /// Its descriptor.
    pub descriptor: &'a [u8],
    /// Its attributes.
    pub attributes: Vec<Attribute<'a>>,
    /// Where it starts in the file.
    pub start: usize,
    /// Where it ends in the file.
    pub end: usize,
}

impl<'a> Member<'a> {
    pub(super) fn parse(pool: &ConstantPool<'a>, r: &mut Reader<'a>) -> Result<Self> {
        let start = r.pos();
        let access_flags = r.u2()?;
        let name_index = r.u2()?;
        let descriptor_index = r.u2()?;
        let (Some(name), Some(descriptor)) = (pool.utf8(name_index), pool.utf8(descriptor_index))
        else {
            return Err(Malformed {
                offset: start + 2,
                rule: "JVMS 4.5, 4.6: a member's name and descriptor are CONSTANT_Utf8",
            });
        };
        let attributes = attributes(pool, r)?;
        Ok(Self {
            access_flags,
            name_index,
            descriptor_index,
            name,
            descriptor,
            attributes,
            start,
            end: r.pos(),
        })
    }

    /// Writes the member as it was read.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_with(out, |attribute, out| attribute.write(out));
    }

    /// Writes the member, leaving its attributes to `write`.
    pub(crate) fn write_with(
        &self,
        out: &mut Vec<u8>,
        mut write: impl FnMut(&Attribute<'a>, &mut Vec<u8>),
    ) {
        out.extend_from_slice(&self.access_flags.to_be_bytes());
        out.extend_from_slice(&self.name_index.to_be_bytes());
        out.extend_from_slice(&self.descriptor_index.to_be_bytes());
        out.extend_from_slice(&(self.attributes.len() as u16).to_be_bytes());
        for attribute in &self.attributes {
            write(attribute, out);
        }
    }

    /// Its `Code` attribute, if it has one.
    pub fn code(&self) -> Result<Option<&Attribute<'a>>> {
        let mut found = None;
        for attribute in &self.attributes {
            if attribute.name == b"Code" {
                if found.is_some() {
                    return Err(Malformed {
                        offset: attribute.offset,
                        rule: "JVMS 4.7.3: a method has at most one Code attribute",
                    });
                }
                found = Some(attribute);
            }
        }
        Ok(found)
    }
}
