//! The class file as a whole (JVMS 4.1).

use super::attribute::{Attribute, attributes};
use super::member::Member;
use crate::error::{Malformed, Result};
use crate::pool::ConstantPool;
use crate::reader::Reader;

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
    /// Reads a class file. Code stays raw: see [`super::Code`].
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

    /// Whether `Code` attributes have the short header of class files before version 45.3: `u1`
    /// stack and locals, `u2` length.
    pub fn short_code(&self) -> bool {
        self.major < 45 || (self.major == 45 && self.minor < 3)
    }
}
