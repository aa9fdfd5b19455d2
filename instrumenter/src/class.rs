//! The class file as a whole (JVMS 4.1), its members (4.5, 4.6) and attributes (4.7).

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
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.name_index.to_be_bytes());
        out.extend_from_slice(&(self.info.len() as u32).to_be_bytes());
        out.extend_from_slice(self.info);
    }

    /// A cursor over its content; `file` is the whole class file.
    pub fn reader(&self, file: &'a [u8]) -> Reader<'a> {
        Reader::over(file, self.offset, self.offset + self.info.len())
    }
}

/// A table of attributes.
pub(crate) fn attributes<'a>(
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
    fn parse(pool: &ConstantPool<'a>, r: &mut Reader<'a>) -> Result<Self> {
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

/// A class file; everything in it borrows the file.
#[derive(Clone, Debug)]
pub struct ClassFile<'a> {
    /// The file.
    pub file: &'a [u8],
    /// Minor version.
    pub minor: u16,
    /// Major version.
    pub major: u16,
    /// The constant pool.
    pub pool: ConstantPool<'a>,
    /// Access flags, all bits.
    pub access_flags: u16,
    /// Index of this class.
    pub this_class: u16,
    /// Internal name of this class.
    pub name: &'a [u8],
    /// Index of the superclass; 0 for `java/lang/Object` and modules.
    pub super_class: u16,
    /// Internal name of the superclass.
    pub super_name: Option<&'a [u8]>,
    /// Indices of the superinterfaces, two bytes each.
    pub interfaces: &'a [u8],
    /// Fields in order.
    pub fields: Vec<Member<'a>>,
    /// Methods in order.
    pub methods: Vec<Member<'a>>,
    /// Offset in the file of `methods_count`.
    pub methods_start: usize,
    /// Attributes of the class.
    pub attributes: Vec<Attribute<'a>>,
}

impl<'a> ClassFile<'a> {
    /// Reads a class file. Code stays raw: see [`crate::code::Code`].
    pub fn parse(file: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(file);
        let r = &mut reader;
        if file.len() > u32::MAX as usize {
            return Err(r.malformed("a class file is smaller than 4 GiB"));
        }
        if r.u4()? != 0xCAFE_BABE {
            return Err(Malformed {
                offset: 0,
                rule: "JVMS 4.1: a class file starts with 0xCAFEBABE",
            });
        }
        let minor = r.u2()?;
        let major = r.u2()?;
        let pool = ConstantPool::parse(file, r)?;
        let access_flags = r.u2()?;
        let this_class = r.u2()?;
        let Some(name) = pool.class_name(this_class) else {
            return Err(Malformed {
                offset: r.pos() - 2,
                rule: "JVMS 4.1: this_class is a CONSTANT_Class",
            });
        };
        let super_class = r.u2()?;
        let super_name = pool.class_name(super_class);
        if super_class != 0 && super_name.is_none() {
            return Err(Malformed {
                offset: r.pos() - 2,
                rule: "JVMS 4.1: super_class is 0 or a CONSTANT_Class",
            });
        }
        let n = r.u2()? as usize;
        let interfaces = r.take(2 * n)?;
        let members = |r: &mut Reader<'a>| {
            let n = r.u2()? as usize;
            let mut all = Vec::with_capacity(n.min(r.left() / 8));
            for _ in 0..n {
                all.push(Member::parse(&pool, r)?);
            }
            Ok(all)
        };
        let fields = members(r)?;
        let methods_start = r.pos();
        let methods = members(r)?;
        let attributes = attributes(&pool, r)?;
        r.finish("JVMS 4.8: nothing follows the class file's attributes")?;
        Ok(Self {
            file,
            minor,
            major,
            pool,
            access_flags,
            this_class,
            name,
            super_class,
            super_name,
            interfaces,
            fields,
            methods,
            methods_start,
            attributes,
        })
    }

    /// `Code` has the short header that class files before version 45.3 use: `u1` stack and
    /// locals, `u2` length.
    pub fn short_code(&self) -> bool {
        self.major < 45 || (self.major == 45 && self.minor < 3)
    }
}
