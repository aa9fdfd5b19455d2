//! The places of code offsets in the attributes of `Code`, except for stack maps.
//!
//! `LineNumberTable` (JVMS 4.7.12), `LocalVariableTable` (4.7.13), `LocalVariableTypeTable`
//! (4.7.14), `Runtime(In)VisibleTypeAnnotations` (4.7.20, 4.7.21) and javac's
//! `CharacterRangeTable`.

use super::attribute::Attribute;
use crate::error::{Malformed, Result};
use crate::reader::Reader;

/// Kinds of attributes of `Code`, by the code offsets that they hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeTable {
    /// `LineNumberTable`.
    Lines,
    /// `LocalVariableTable` and `LocalVariableTypeTable`.
    Variables,
    /// `RuntimeVisibleTypeAnnotations` and `RuntimeInvisibleTypeAnnotations`.
    TypeAnnotations,
    /// `CharacterRangeTable`, which `javac -Xjcov` writes.
    CharacterRanges,
    /// `StackMapTable`, whose offsets [`crate::types::RawFrames`] reads.
    StackMap,
    /// `StackMap`, the stack map of the CLDC, which no Java SE JVM reads.
    CldcStackMap,
    /// Any other attribute.
    Unknown,
}

/// A code offset in an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OffsetField {
    /// The place of the offset's two bytes, from the start of the attribute's content.
    pub at: usize,
    /// The meaning of the offset.
    pub holds: Holds,
}

/// The meaning of a code offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holds {
    /// The start of a range that has no end.
    Start(u32),
    /// An instruction.
    Instruction(u32),
    /// The start of a range. The range's length is in the two bytes behind.
    Range {
        /// First BCI.
        start: u32,
        /// The first BCI behind the range.
        end: u32,
    },
    /// The start of a range. The BCI of the range's last byte is in the two bytes behind.
    Inclusive {
        /// First BCI.
        start: u32,
        /// The first BCI behind the range.
        end: u32,
    },
}

impl CodeTable {
    /// The kind of attributes with this name.
    pub fn of(name: &[u8]) -> CodeTable {
        match name {
            b"LineNumberTable" => CodeTable::Lines,
            b"LocalVariableTable" | b"LocalVariableTypeTable" => CodeTable::Variables,
            b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                CodeTable::TypeAnnotations
            }
            b"CharacterRangeTable" => CodeTable::CharacterRanges,
            b"StackMapTable" => CodeTable::StackMap,
            b"StackMap" => CodeTable::CldcStackMap,
            _ => CodeTable::Unknown,
        }
    }

    /// Visits each code offset of an attribute of this kind; `file` is the class file. Stack maps
    /// and unknown attributes have none to visit.
    ///
    /// # Errors
    /// If the attribute breaks a rule of its section of the JVMS, or the rule that `visit` returns.
    pub fn places<'a>(
        self,
        attribute: &Attribute<'a>,
        file: &'a [u8],
        visit: impl FnMut(OffsetField) -> Result<(), &'static str>,
    ) -> Result<()> {
        let reader = attribute.reader(file);
        let base = reader.pos();
        let mut walk = Walk {
            reader,
            base,
            visit,
        };
        match self {
            CodeTable::Lines => walk.lines(),
            CodeTable::Variables => walk.variables(),
            CodeTable::TypeAnnotations => walk.type_annotations(),
            CodeTable::CharacterRanges => walk.character_ranges(),
            CodeTable::StackMap | CodeTable::CldcStackMap | CodeTable::Unknown => Ok(()),
        }
    }
}

/// A walk over the content of an attribute.
struct Walk<'a, V> {
    reader: Reader<'a>,
    /// Offset in the file of the content.
    base: usize,
    visit: V,
}

impl<V: FnMut(OffsetField) -> Result<(), &'static str>> Walk<'_, V> {
    #[inline]
    fn visit(&mut self, at: usize, holds: Holds) -> Result<()> {
        (self.visit)(OffsetField { at, holds }).map_err(|rule| Malformed {
            offset: self.base + at,
            rule,
        })
    }

    fn lines(&mut self) -> Result<()> {
        let n = self.reader.u2()? as usize;
        let bytes = self.reader.take(n * 4)?;
        self.reader
            .finish("JVMS 4.7.12: line_number_table_length counts all entries")?;
        for (i, e) in bytes.as_chunks::<4>().0.iter().enumerate() {
            let start = u32::from(u16::from_be_bytes([e[0], e[1]]));
            self.visit(2 + 4 * i, Holds::Start(start))?;
        }
        Ok(())
    }

    /// A range with start and length.
    fn range(&mut self) -> Result<()> {
        let at = self.reader.pos() - self.base;
        let start = u32::from(self.reader.u2()?);
        let end = start + u32::from(self.reader.u2()?);
        self.visit(at, Holds::Range { start, end })
    }

    fn variables(&mut self) -> Result<()> {
        for _ in 0..self.reader.u2()? {
            self.range()?;
            self.reader.take(6)?;
        }
        self.reader
            .finish("JVMS 4.7.13: local_variable_table_length counts all entries")
    }

    fn type_annotations(&mut self) -> Result<()> {
        for _ in 0..self.reader.u2()? {
            self.target()?;
            let path = self.reader.u1()? as usize;
            self.reader.take(2 * path)?;
            skip_annotation(&mut self.reader)?;
        }
        self.reader
            .finish("JVMS 4.7.20: num_annotations counts all annotations")
    }

    /// The `target_type` and `target_info` of a type annotation (JVMS 4.7.20.1).
    fn target(&mut self) -> Result<()> {
        let target_type = self.reader.u1()?;
        match target_type {
            0x00 | 0x01 | 0x16 => _ = self.reader.take(1)?,
            0x10..=0x12 | 0x17 | 0x42 => _ = self.reader.take(2)?,
            0x13..=0x15 => {}
            0x40 | 0x41 => {
                for _ in 0..self.reader.u2()? {
                    self.range()?;
                    self.reader.take(2)?;
                }
            }
            0x43..=0x4B => {
                let at = self.reader.pos() - self.base;
                let bci = u32::from(self.reader.u2()?);
                self.visit(at, Holds::Instruction(bci))?;
                if target_type >= 0x47 {
                    self.reader.take(1)?;
                }
            }
            _ => {
                return Err(Malformed {
                    offset: self.reader.pos() - 1,
                    rule: "JVMS 4.7.20: unknown target_type",
                });
            }
        }
        Ok(())
    }

    /// First and last BCI (the last inclusive) and source positions. The attribute is not in the
    /// JVMS, so a malformed table is left alone.
    fn character_ranges(&mut self) -> Result<()> {
        let Ok(n) = self.reader.u2() else {
            return Ok(());
        };
        let n = usize::from(n);
        if self.reader.left() != n * 14 {
            return Ok(());
        }
        let bytes = self.reader.take(n * 14)?;
        for (i, e) in bytes.as_chunks::<14>().0.iter().enumerate() {
            let start = u32::from(u16::from_be_bytes([e[0], e[1]]));
            let end = u32::from(u16::from_be_bytes([e[2], e[3]])) + 1;
            self.visit(2 + 14 * i, Holds::Inclusive { start, end })?;
        }
        Ok(())
    }
}

/// Steps over the type and the elements of an annotation (JVMS 4.7.16), however deep they nest.
fn skip_annotation(r: &mut Reader<'_>) -> Result<()> {
    r.take(2)?;
    // Open annotations and arrays: how many elements are left, and whether the elements have names.
    let mut open = vec![(r.u2()?, true)];
    while let Some((left, named)) = open.last_mut() {
        if *left == 0 {
            open.pop();
            continue;
        }
        *left -= 1;
        if *named {
            r.take(2)?;
        }
        match r.u1()? {
            b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' | b's' | b'c' => {
                r.take(2)?;
            }
            b'e' => {
                r.take(4)?;
            }
            b'@' => {
                r.take(2)?;
                open.push((r.u2()?, true));
            }
            b'[' => open.push((r.u2()?, false)),
            _ => {
                return Err(Malformed {
                    offset: r.pos() - 1,
                    rule: "JVMS 4.7.16.1: unknown tag of an element value",
                });
            }
        }
    }
    Ok(())
}
