//! The `Code` attribute (JVMS 4.7.3).

use super::attribute::{Attribute, attributes};
use super::class::ClassFile;
use crate::error::{Malformed, Result};
use crate::instruction::Instructions;
use crate::reader::Reader;

/// An entry of the exception table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExceptionEntry {
    /// First BCI covered.
    pub start: u16,
    /// First BCI no longer covered.
    pub end: u16,
    /// BCI of the handler.
    pub handler: u16,
    /// Class constant of the caught class; 0: every exception is caught.
    pub catch_type: u16,
}

impl ExceptionEntry {
    /// Writes the entry as it was read.
    pub fn write(&self, out: &mut Vec<u8>) {
        for n in [self.start, self.end, self.handler, self.catch_type] {
            out.extend_from_slice(&n.to_be_bytes());
        }
    }
}

/// A method's code; everything in it borrows the file.
#[derive(Clone, Debug)]
pub struct Code<'a> {
    /// Depth of the operand stack.
    pub max_stack: u16,
    /// Number of local variable slots.
    pub max_locals: u16,
    /// The code array.
    pub code: &'a [u8],
    /// Offset in the file of the code array.
    pub offset: usize,
    /// The exception table, raw: eight bytes an entry.
    exception_bytes: &'a [u8],
    /// The attributes.
    pub attributes: Vec<Attribute<'a>>,
    /// Whether the header has the short form of versions before 45.3.
    pub short: bool,
}

impl<'a> Code<'a> {
    /// Reads the content of a `Code` attribute of `class`.
    pub fn parse(class: &ClassFile<'a>, attribute: &Attribute<'a>) -> Result<Self> {
        let mut reader: Reader<'a> = attribute.reader(class.file);
        let r = &mut reader;
        let short = class.short_code();
        let (max_stack, max_locals, length) = if short {
            (u16::from(r.u1()?), u16::from(r.u1()?), u32::from(r.u2()?))
        } else {
            (r.u2()?, r.u2()?, r.u4()?)
        };
        if length == 0 || length > 65535 {
            return Err(r.malformed("JVMS 4.7.3: code_length is more than 0 and less than 65536"));
        }
        let offset = r.pos();
        let code = r.take(length as usize)?;
        let n = r.u2()? as usize;
        let exception_bytes = r.take(n * 8)?;
        let attributes = attributes(&class.pool, r)?;
        r.finish("JVMS 4.7.3: attribute_length covers exactly the attribute")?;
        Ok(Self {
            max_stack,
            max_locals,
            code,
            offset,
            exception_bytes,
            attributes,
            short,
        })
    }

    /// The instructions, in order.
    #[inline]
    pub fn instructions(&self) -> Instructions<'a> {
        Instructions::new(self.code, self.offset)
    }

    /// The exception table, in order.
    #[inline]
    pub fn exceptions(&self) -> impl ExactSizeIterator<Item = ExceptionEntry> + use<'a> {
        self.exception_bytes
            .as_chunks::<8>()
            .0
            .iter()
            .map(|b| ExceptionEntry {
                start: u16::from_be_bytes([b[0], b[1]]),
                end: u16::from_be_bytes([b[2], b[3]]),
                handler: u16::from_be_bytes([b[4], b[5]]),
                catch_type: u16::from_be_bytes([b[6], b[7]]),
            })
    }

    /// The attribute with this name, if there is exactly one.
    pub fn single(&self, name: &[u8]) -> Result<Option<&Attribute<'a>>> {
        let mut all = self.attributes.iter().filter(|a| a.name == name);
        let first = all.next();
        match all.next() {
            None => Ok(first),
            Some(second) => Err(Malformed {
                offset: second.offset,
                rule: "JVMS 4.7.4: a Code attribute has at most one StackMapTable",
            }),
        }
    }
}
