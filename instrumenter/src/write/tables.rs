//! The attributes of `Code` with code offsets, moved with the code. Their sizes do not change.

use crate::layout::Moves;
use crate::reason::{Reason, Stop};
use classfile::Result;
use classfile::file::{Attribute, ClassFile, Code, CodeTable, Holds};

/// Writes the attributes of the code except its stack map, and returns their number. `unknown`
/// counts attributes of unknown kinds, which may hold code offsets.
pub(crate) fn write(
    out: &mut Vec<u8>,
    class: &ClassFile<'_>,
    code: &Code<'_>,
    moves: Moves<'_>,
    unknown: &mut u32,
) -> Result<u16, Stop> {
    let mut count = 0u16;
    for a in &code.attributes {
        let table = CodeTable::of(a.name);
        match table {
            // The stack map of the CLDC cannot be kept correct, and no Java SE JVM reads it.
            CodeTable::CldcStackMap | CodeTable::StackMap => continue,
            CodeTable::Unknown => *unknown += 1,
            _ => {}
        }
        moved(table, a, class.file, moves, out)?;
        count = count.checked_add(1).ok_or(Reason::TableFull)?;
    }
    Ok(count)
}

/// Writes one attribute with its offsets moved.
fn moved<'a>(
    table: CodeTable,
    attribute: &Attribute<'a>,
    file: &'a [u8],
    moves: Moves<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let content = out.len() + 6;
    attribute.write(out);
    let out = &mut out[content..];
    table.places(attribute, file, |place| {
        match place.holds {
            Holds::Start(bci) if bci >= moves.code_length => {
                return Err("JVMS 4.7.12: start_pc is in the code array");
            }
            Holds::Start(bci) => put(out, place.at, moves.border(bci)),
            Holds::Instruction(bci) if bci >= moves.code_length => {
                return Err("JVMS 4.7.20.1: an offset is in the code array");
            }
            // The annotation belongs to the instruction itself, not to its hooks.
            Holds::Instruction(bci) => put(out, place.at, moves.instruction(bci) as u16),
            Holds::Range { end, .. } if !moves.inside(end) => {
                return Err("JVMS 4.7.13, 4.7.20.1: a variable's range is in the code array");
            }
            Holds::Range { start, end } => {
                let (start, end) = (moves.border(start), moves.border(end));
                put(out, place.at, start);
                put(out, place.at + 2, end.saturating_sub(start));
            }
            // The attribute is not in the JVMS, so an odd entry stays as it is.
            Holds::Inclusive { start, end } if start < end && moves.inside(end) => {
                put(out, place.at, moves.border(start));
                put(out, place.at + 2, moves.border(end).saturating_sub(1));
            }
            Holds::Inclusive { .. } => {}
        }
        Ok(())
    })
}

fn put(out: &mut [u8], at: usize, n: u16) {
    out[at..at + 2].copy_from_slice(&n.to_be_bytes());
}
