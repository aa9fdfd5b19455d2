//! The entry of the unwind tables for an address.

use crate::c_frames::reader::Reader;
use hotspot::memory::Memory;
use std::ops::Range;

/// The entry of a function.
pub struct Entry {
    /// The addresses of the function.
    pub code: Range<usize>,
    /// The instructions that functions of the same form share.
    pub common: Range<usize>,
    /// The function's own instructions.
    pub own: Range<usize>,
    /// The factor of distances in code.
    pub code_factor: usize,
    /// The factor of distances on the stack.
    pub data_factor: isize,
    /// Whether a signal handler returns to it.
    pub is_signal_frame: bool,
}

/// The entry for `pc` in the tables whose header is at `header`.
pub fn find(memory: &impl Memory, header: usize, pc: usize) -> Option<Entry> {
    let mut reader = Reader::new(memory, header);
    let version = reader.u8()?;
    let (frame, count, table) = (reader.u8()?, reader.u8()?, reader.u8()?);
    // All linkers write such tables: numbers of four bytes, relative to the header.
    if version != 1 || table != 0x3b {
        return None;
    }
    reader.pointer(frame)?;
    let count = reader.pointer(count)?;
    let table = reader.at;
    let place = |at: usize| table.wrapping_add(at.wrapping_mul(8));
    let number = |at: usize| {
        let distance = memory.i32(at)?;
        Some(header.wrapping_add_signed(distance as isize))
    };
    let (mut low, mut high) = (0, count.min(1 << 24));
    while low < high {
        let middle = low.midpoint(high);
        if number(place(middle))? <= pc {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let entry = number(place(low.checked_sub(1)?).wrapping_add(4))?;
    parse(memory, entry).filter(|entry| entry.code.contains(&pc))
}

/// The entry at `place`, with the common part to which it refers (LSB Core, 10.6.1).
fn parse(memory: &impl Memory, place: usize) -> Option<Entry> {
    let mut own = Reader::new(memory, place);
    let end = end(&mut own)?;
    let here = own.at;
    let common = here.wrapping_sub(own.u32()? as usize);
    let common = Common::parse(memory, common)?;
    let start = own.pointer(common.encoding)?;
    let length = own.pointer(common.encoding & 0x0f)?;
    if common.has_augmentation {
        let size = own.uleb()?;
        own.skip(size);
    }
    Some(Entry {
        code: start..start.wrapping_add(length),
        common: common.instructions,
        own: own.at..end,
        code_factor: common.code_factor,
        data_factor: common.data_factor,
        is_signal_frame: common.is_signal_frame,
    })
}

/// Reads a length, and returns the end of the part that follows.
fn end<M: Memory>(reader: &mut Reader<'_, M>) -> Option<usize> {
    let length = reader.u32()?;
    // Longer entries have another format, and do not occur.
    (length != 0 && length < 1 << 24).then(|| reader.at.wrapping_add(length as usize))
}

struct Common {
    instructions: Range<usize>,
    code_factor: usize,
    data_factor: isize,
    encoding: u8,
    has_augmentation: bool,
    is_signal_frame: bool,
}

impl Common {
    fn parse(memory: &impl Memory, place: usize) -> Option<Common> {
        let mut reader = Reader::new(memory, place);
        let end = end(&mut reader)?;
        if reader.u32()? != 0 {
            return None;
        }
        let version = reader.u8()?;
        let mut letters = [0; 8];
        for letter in &mut letters {
            *letter = reader.u8()?;
            if *letter == 0 {
                break;
            }
        }
        let code_factor = reader.uleb()?;
        let data_factor = reader.sleb()?;
        // The column of the return address.
        match version {
            1 => usize::from(reader.u8()?),
            _ => reader.uleb()?,
        };
        let mut common = Common {
            instructions: 0..end,
            code_factor,
            data_factor,
            encoding: 0,
            has_augmentation: letters[0] == b'z',
            is_signal_frame: false,
        };
        let mut behind = None;
        for letter in letters {
            match letter {
                b'z' => {
                    let size = reader.uleb()?;
                    behind = Some(reader.at.wrapping_add(size));
                }
                b'R' => common.encoding = reader.u8()?,
                b'L' => reader.skip(1),
                b'P' => {
                    let encoding = reader.u8()?;
                    reader.pointer(encoding & 0x7f)?;
                }
                b'S' => common.is_signal_frame = true,
                // Return addresses are signed with the other key.
                b'B' => {}
                0 => break,
                _ => return None,
            }
        }
        common.instructions.start = behind.unwrap_or(reader.at);
        Some(common)
    }
}
