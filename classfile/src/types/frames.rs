//! Stack map frames (JVMS 4.7.4), read and written as they are.

use super::vtype::VType;
use crate::error::{Malformed, Result};
use crate::reader::Reader;

/// A frame in the form of the file.
#[derive(Clone, Debug)]
pub struct RawFrame<'a> {
    /// The frame's first byte.
    pub frame_type: u8,
    /// Distance from the frame before.
    pub delta: u16,
    /// The file's offset of the frame.
    pub offset: usize,
    /// Locals that are appended, or all locals of a full frame.
    pub locals: RawTypes<'a>,
    /// Operand stack.
    pub stack: RawTypes<'a>,
}

/// Verification types in the form of the file.
#[derive(Clone, Debug)]
pub struct RawTypes<'a> {
    /// The number of types.
    pub count: u16,
    /// Their bytes.
    pub bytes: &'a [u8],
    offset: usize,
}

impl<'a> RawTypes<'a> {
    fn none() -> Self {
        Self {
            count: 0,
            bytes: &[],
            offset: 0,
        }
    }

    fn read(count: u16, file: &mut Reader<'a>) -> Result<Self> {
        let offset = file.pos();
        let mut look = file.clone();
        for _ in 0..count {
            let tag = look.u1()?;
            match VType::has_data(tag) {
                Some(true) => _ = look.u2()?,
                Some(false) => {}
                None => {
                    return Err(Malformed {
                        offset: look.pos() - 1,
                        rule: "JVMS 4.7.4: unknown verification type",
                    });
                }
            }
        }
        let bytes = file.take(look.pos() - offset)?;
        Ok(Self {
            count,
            bytes,
            offset,
        })
    }

    /// The types, each with its offset in the file.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (usize, VType)> + use<'a> {
        let (bytes, offset) = (self.bytes, self.offset);
        let mut at = 0;
        std::iter::from_fn(move || {
            let tag = *bytes.get(at)?;
            let here = offset + at;
            let mut data = 0;
            at += 1;
            if VType::has_data(tag)? {
                data = u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]);
                at += 2;
            }
            Some((here, VType::of(tag, data)?))
        })
    }
}

/// The frames of a `StackMapTable`, in order.
#[derive(Clone, Debug)]
pub struct RawFrames<'a> {
    reader: Reader<'a>,
    left: u16,
}

impl<'a> RawFrames<'a> {
    /// Reads the count; `reader` covers the attribute's content.
    pub fn new(mut reader: Reader<'a>) -> Result<Self> {
        let left = reader.u2()?;
        Ok(Self { reader, left })
    }

    /// How many frames are left.
    #[inline]
    pub fn left(&self) -> u16 {
        self.left
    }

    /// The next frame.
    pub fn next_frame(&mut self) -> Result<Option<RawFrame<'a>>> {
        let r = &mut self.reader;
        if self.left == 0 {
            r.finish("JVMS 4.7.4: number_of_entries counts all frames")?;
            return Ok(None);
        }
        self.left -= 1;
        let offset = r.pos();
        let frame_type = r.u1()?;
        let mut frame = RawFrame {
            frame_type,
            delta: 0,
            offset,
            locals: RawTypes::none(),
            stack: RawTypes::none(),
        };
        match frame_type {
            0..=63 => frame.delta = u16::from(frame_type),
            64..=127 => {
                frame.delta = u16::from(frame_type - 64);
                frame.stack = RawTypes::read(1, r)?;
            }
            128..=246 => {
                return Err(Malformed {
                    offset,
                    rule: "JVMS 4.7.4: frame types 128 to 246 are reserved",
                });
            }
            247 => {
                frame.delta = r.u2()?;
                frame.stack = RawTypes::read(1, r)?;
            }
            248..=251 => frame.delta = r.u2()?,
            252..=254 => {
                frame.delta = r.u2()?;
                frame.locals = RawTypes::read(u16::from(frame_type - 251), r)?;
            }
            255 => {
                frame.delta = r.u2()?;
                let n = r.u2()?;
                frame.locals = RawTypes::read(n, r)?;
                let n = r.u2()?;
                frame.stack = RawTypes::read(n, r)?;
            }
        }
        Ok(Some(frame))
    }
}

impl RawFrame<'_> {
    /// Writes the frame as it was read.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(self.frame_type);
        if self.frame_type >= 247 {
            out.extend_from_slice(&self.delta.to_be_bytes());
        }
        if self.frame_type == 255 {
            out.extend_from_slice(&self.locals.count.to_be_bytes());
        }
        out.extend_from_slice(self.locals.bytes);
        if self.frame_type == 255 {
            out.extend_from_slice(&self.stack.count.to_be_bytes());
        }
        out.extend_from_slice(self.stack.bytes);
    }

    /// Turns `locals`, the locals of the frame before, into the locals of this frame. `max_locals`
    /// is their limit.
    pub fn apply(&self, locals: &mut Vec<VType>, max_locals: u16) -> Result<()> {
        match self.frame_type {
            248..=250 => {
                let keep = locals
                    .len()
                    .checked_sub(usize::from(251 - self.frame_type))
                    .ok_or(Malformed {
                        offset: self.offset,
                        rule: "JVMS 4.7.4: a chop frame has no more locals to chop than there are",
                    })?;
                locals.truncate(keep);
            }
            252..=254 => locals.extend(self.locals.iter().map(|(_, t)| t)),
            255 => {
                locals.clear();
                locals.extend(self.locals.iter().map(|(_, t)| t));
            }
            _ => return Ok(()),
        }
        let slots: u32 = locals.iter().map(|t| t.slots()).sum();
        if slots > u32::from(max_locals) {
            return Err(Malformed {
                offset: self.offset,
                rule: "JVMS 4.7.4: a frame's locals fit max_locals",
            });
        }
        Ok(())
    }
}

/// The BCI of the frame behind the frame at `last`.
#[inline]
pub fn next_bci(last: Option<u32>, delta: u16) -> u32 {
    match last {
        None => u32::from(delta),
        Some(last) => last + 1 + u32::from(delta),
    }
}
