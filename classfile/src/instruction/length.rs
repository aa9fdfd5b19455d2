//! Where instructions end (JVMS 4.9.1).

use crate::error::{Malformed, Result};
use crate::operators::{Format, Opcode};

#[inline]
pub(super) fn i4(code: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_be_bytes(*code.get(at..)?.first_chunk()?))
}

#[inline]
pub(super) fn u2(code: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*code.get(at..)?.first_chunk()?))
}

/// Number of padding bytes after the opcode of a switch at `bci`.
#[inline]
pub fn padding(bci: usize) -> usize {
    3 - (bci & 3)
}

/// The opcode at `bci`, and the length of its instruction, which was checked to lie within `code`.
/// `base` is the offset of the code array in the file. Panics if `bci` is not in the code.
///
/// # Errors
/// If there is no opcode or if the code ends before the instruction does.
#[inline]
pub fn measure(code: &[u8], bci: usize, base: usize) -> Result<(Opcode, usize)> {
    let Some(opcode) = Opcode::of(code[bci]) else {
        return Err(no_opcode(base + bci));
    };
    let length = match opcode.length() {
        Some(length) => length,
        None => variable_length(opcode, code, bci, base)?,
    };
    if length > code.len() - bci {
        return Err(cut(base + bci));
    }
    Ok((opcode, length))
}

/// The target of the branch with this opcode at `bci`; `None` for other instructions and for
/// switches.
#[inline]
pub fn branch_target(opcode: Opcode, code: &[u8], bci: usize) -> Option<u32> {
    let by = match opcode.format() {
        Format::Branch => i32::from(u2(code, bci + 1)? as i16),
        Format::WideBranch => i4(code, bci + 1)?,
        _ => return None,
    };
    Some((bci as i32).wrapping_add(by) as u32)
}

#[cold]
fn no_opcode(offset: usize) -> Malformed {
    Malformed {
        offset,
        rule: "JVMS 4.9.1: only the opcodes of JVMS 6.5 stand in the code array",
    }
}

#[cold]
fn cut(offset: usize) -> Malformed {
    Malformed {
        offset,
        rule: "JVMS 4.9.1: the last instruction ends where the code array ends",
    }
}

#[cold]
fn variable_length(opcode: Opcode, code: &[u8], bci: usize, base: usize) -> Result<usize> {
    let offset = base + bci;
    let bad = |rule| Malformed { offset, rule };
    let cut = || cut(offset);
    let at = bci + 1 + padding(bci);
    match opcode.format() {
        Format::Table => {
            let low = i64::from(i4(code, at + 4).ok_or_else(cut)?);
            let high = i64::from(i4(code, at + 8).ok_or_else(cut)?);
            if low > high {
                return Err(bad("JVMS 4.9.1: low of a tableswitch is at most high"));
            }
            usize::try_from((at - bci) as i64 + 12 + (high - low + 1) * 4).map_err(|_| cut())
        }
        Format::Lookup => {
            let n = i64::from(i4(code, at + 4).ok_or_else(cut)?);
            if n < 0 {
                return Err(bad("JVMS 4.9.1: npairs of a lookupswitch is at least 0"));
            }
            usize::try_from((at - bci) as i64 + 8 + n * 8).map_err(|_| cut())
        }
        _ => {
            let modified = Opcode::of(*code.get(bci + 1).ok_or_else(cut)?);
            match modified.map(Opcode::format) {
                Some(Format::Increment) => Ok(6),
                Some(Format::Local) => Ok(4),
                _ => Err(bad(
                    "JVMS 6.5.wide: wide modifies loads, stores, ret and iinc only",
                )),
            }
        }
    }
}
