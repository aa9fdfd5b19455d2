//! The attributes of `Code` that hold code offsets, moved with the code.
//!
//! `LineNumberTable` (JVMS 4.7.12), `LocalVariableTable` (4.7.13), `LocalVariableTypeTable`
//! (4.7.14), `Runtime(In)VisibleTypeAnnotations` (4.7.20, 4.7.21) and javac's
//! `CharacterRangeTable`. None of them changes its size.

use crate::class::Attribute;
use crate::error::{Malformed, Result};
use crate::layout::Moves;
use crate::reader::Reader;

/// What to do with an attribute of `Code`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Table {
    Lines,
    Variables,
    TypeAnnotations,
    CharacterRanges,
    StackMap,
    /// The stack map of the CLDC, which no Java SE machine reads: dropped, as it can't be kept
    /// right.
    CldcStackMap,
    /// Left as it is.
    Unknown,
}

impl Table {
    pub(crate) fn of(name: &[u8]) -> Table {
        match name {
            b"LineNumberTable" => Table::Lines,
            b"LocalVariableTable" | b"LocalVariableTypeTable" => Table::Variables,
            b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                Table::TypeAnnotations
            }
            b"CharacterRangeTable" => Table::CharacterRanges,
            b"StackMapTable" => Table::StackMap,
            b"StackMap" => Table::CldcStackMap,
            _ => Table::Unknown,
        }
    }
}

/// Writes a table with its offsets moved. `moves` is `None` to check the table only and write it
/// as it is.
pub(crate) fn write(
    table: Table,
    attribute: &Attribute<'_>,
    file: &[u8],
    moves: Option<Moves<'_>>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let at = out.len() + 6;
    attribute.write(out);
    let out = &mut out[at..];
    let mut r = attribute.reader(file);
    match table {
        Table::Lines => lines(&mut r, moves, out),
        Table::Variables => variables(&mut r, moves, out),
        Table::TypeAnnotations => type_annotations(&mut r, attribute.offset, moves, out),
        Table::CharacterRanges => {
            character_ranges(&mut r, moves, out);
            Ok(())
        }
        Table::StackMap | Table::CldcStackMap | Table::Unknown => Ok(()),
    }
}

fn put(out: &mut [u8], at: usize, n: u16) {
    out[at..at + 2].copy_from_slice(&n.to_be_bytes());
}

fn lines(r: &mut Reader<'_>, moves: Option<Moves<'_>>, out: &mut [u8]) -> Result<()> {
    let n = r.u2()? as usize;
    let bytes = r.take(n * 4)?;
    let here = r.pos();
    r.finish("JVMS 4.7.12: line_number_table_length counts all entries")?;
    let Some(moves) = moves else { return Ok(()) };
    for (i, e) in bytes.as_chunks::<4>().0.iter().enumerate() {
        let start = u32::from(u16::from_be_bytes([e[0], e[1]]));
        if start >= moves.code_length {
            return Err(Malformed {
                offset: here - bytes.len() + 4 * i,
                rule: "JVMS 4.7.12: start_pc is in the code array",
            });
        }
        put(out, 2 + 4 * i, moves.border(start));
    }
    Ok(())
}

/// Moves a range of `start` and length.
fn range(r: &mut Reader<'_>, base: usize, moves: Option<Moves<'_>>, out: &mut [u8]) -> Result<()> {
    let at = r.pos();
    let start = u32::from(r.u2()?);
    let end = start + u32::from(r.u2()?);
    let Some(moves) = moves else { return Ok(()) };
    if !moves.inside(end) {
        return Err(Malformed {
            offset: at,
            rule: "JVMS 4.7.13, 4.7.20.1: a variable's range is in the code array",
        });
    }
    let (start, end) = (moves.border(start), moves.border(end));
    put(out, at - base, start);
    put(out, at - base + 2, end.saturating_sub(start));
    Ok(())
}

fn variables(r: &mut Reader<'_>, moves: Option<Moves<'_>>, out: &mut [u8]) -> Result<()> {
    let base = r.pos();
    for _ in 0..r.u2()? {
        range(r, base, moves, out)?;
        r.take(6)?;
    }
    r.finish("JVMS 4.7.13: local_variable_table_length counts all entries")
}

fn type_annotations(
    r: &mut Reader<'_>,
    base: usize,
    moves: Option<Moves<'_>>,
    out: &mut [u8],
) -> Result<()> {
    for _ in 0..r.u2()? {
        let target_type = r.u1()?;
        match target_type {
            0x00 | 0x01 | 0x16 => {
                r.take(1)?;
            }
            0x10..=0x12 | 0x17 | 0x42 => {
                r.take(2)?;
            }
            0x13..=0x15 => {}
            0x40 | 0x41 => {
                for _ in 0..r.u2()? {
                    range(r, base, moves, out)?;
                    r.take(2)?;
                }
            }
            0x43..=0x4B => {
                let at = r.pos();
                let bci = u32::from(r.u2()?);
                if let Some(moves) = moves {
                    if bci >= moves.code_length {
                        return Err(Malformed {
                            offset: at,
                            rule: "JVMS 4.7.20.1: an offset is in the code array",
                        });
                    }
                    // The annotated instruction itself, not its hooks.
                    put(out, at - base, moves.instruction(bci) as u16);
                }
                if target_type >= 0x47 {
                    r.take(1)?;
                }
            }
            _ => {
                return Err(Malformed {
                    offset: r.pos() - 1,
                    rule: "JVMS 4.7.20: unknown target_type",
                });
            }
        }
        let path = r.u1()? as usize;
        r.take(2 * path)?;
        skip_annotation(r)?;
    }
    r.finish("JVMS 4.7.20: num_annotations counts all annotations")
}

/// Steps over the type and the elements of an annotation (JVMS 4.7.16), however deep they nest.
fn skip_annotation(r: &mut Reader<'_>) -> Result<()> {
    r.take(2)?;
    // What is open: how many elements are left, and whether each has a name.
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

/// `javac -Xjcov` writes these: first and last BCI (the last inclusive) and source positions. Not
/// an attribute of the JVMS, so what looks odd stays as it is.
fn character_ranges(r: &mut Reader<'_>, moves: Option<Moves<'_>>, out: &mut [u8]) {
    let (Some(moves), Ok(n)) = (moves, r.u2()) else {
        return;
    };
    if r.left() != n as usize * 14 {
        return;
    }
    let Ok(bytes) = r.take(n as usize * 14) else {
        return;
    };
    for (i, e) in bytes.as_chunks::<14>().0.iter().enumerate() {
        let start = u32::from(u16::from_be_bytes([e[0], e[1]]));
        let end = u32::from(u16::from_be_bytes([e[2], e[3]])) + 1;
        if start < end && moves.inside(end) {
            put(out, 2 + 14 * i, moves.border(start));
            put(out, 4 + 14 * i, moves.border(end).saturating_sub(1));
        }
    }
}
