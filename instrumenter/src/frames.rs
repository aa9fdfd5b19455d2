//! Stack map frames (JVMS 4.7.4): read as they are, and written in the smallest form.

use crate::error::{Malformed, Result};
use crate::reader::Reader;
use crate::types::{VType, vtag};

/// A frame as it stands in the file.
#[derive(Clone, Debug)]
pub(crate) struct RawFrame<'a> {
    /// The frame's first byte.
    pub(crate) frame_type: u8,
    /// Distance from the frame before.
    pub(crate) delta: u16,
    /// The file's offset of the frame.
    pub(crate) offset: usize,
    /// Locals that are appended, or all locals of a full frame.
    pub(crate) locals: RawTypes<'a>,
    /// Operand stack.
    pub(crate) stack: RawTypes<'a>,
}

/// Verification types as they stand in the file.
#[derive(Clone, Debug)]
pub(crate) struct RawTypes<'a> {
    pub(crate) count: u16,
    pub(crate) bytes: &'a [u8],
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
            if VType::has_data(tag) {
                look.u2()?;
            } else if tag > vtag::UNINITIALIZED {
                return Err(Malformed {
                    offset: look.pos() - 1,
                    rule: "JVMS 4.7.4: unknown verification type",
                });
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
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, VType)> + use<'a> {
        let (bytes, offset) = (self.bytes, self.offset);
        let mut at = 0;
        std::iter::from_fn(move || {
            let tag = *bytes.get(at)?;
            let here = offset + at;
            let data = if VType::has_data(tag) {
                let data = u16::from_be_bytes([*bytes.get(at + 1)?, *bytes.get(at + 2)?]);
                at += 3;
                data
            } else {
                at += 1;
                0
            };
            Some((here, VType { tag, data }))
        })
    }
}

/// The frames of a `StackMapTable`, in order.
#[derive(Clone, Debug)]
pub(crate) struct RawFrames<'a> {
    reader: Reader<'a>,
    left: u16,
}

impl<'a> RawFrames<'a> {
    /// Reads the count; `reader` covers the attribute's content.
    pub(crate) fn new(mut reader: Reader<'a>) -> Result<Self> {
        let left = reader.u2()?;
        Ok(Self { reader, left })
    }

    /// How many frames are left.
    pub(crate) fn left(&self) -> u16 {
        self.left
    }

    /// The next frame.
    pub(crate) fn next(&mut self) -> Result<Option<RawFrame<'a>>> {
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
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
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

    /// Turns `locals`, those of the frame before, into those of this frame. `max_locals` bounds
    /// them.
    pub(crate) fn apply(&self, locals: &mut Vec<VType>, max_locals: u16) -> Result<()> {
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

/// The BCI of the frame after the one at `last`.
pub(crate) fn next_bci(last: Option<u32>, delta: u16) -> u32 {
    match last {
        None => u32::from(delta),
        Some(last) => last + 1 + u32::from(delta),
    }
}

/// Writes the frames of one `StackMapTable`, each in its smallest form.
#[derive(Debug)]
pub(crate) struct FrameWriter<'s> {
    out: &'s mut Vec<u8>,
    /// Where the attribute starts in `out`.
    start: usize,
    last: Option<u32>,
    count: u32,
    /// Locals of the frame before.
    before: &'s mut Vec<VType>,
}

impl<'s> FrameWriter<'s> {
    /// Starts the attribute; `initial` holds the locals at method entry and is used up.
    pub(crate) fn new(out: &'s mut Vec<u8>, name_index: u16, initial: &'s mut Vec<VType>) -> Self {
        let start = out.len();
        out.extend_from_slice(&name_index.to_be_bytes());
        out.extend_from_slice(&[0; 6]);
        Self {
            out,
            start,
            last: None,
            count: 0,
            before: initial,
        }
    }

    /// Adds a frame. `resolve` gives parameters their class constants; its error ends the frame.
    pub(crate) fn add<E>(
        &mut self,
        bci: u32,
        locals: &[VType],
        stack: &[VType],
        mut resolve: impl FnMut(u16) -> Result<u16, E>,
    ) -> Result<(), E> {
        let delta = (bci - self.last.map_or(0, |last| last + 1)) as u16;
        let d = delta.to_be_bytes();
        let (was, is) = (self.before.len(), locals.len());
        let common = self
            .before
            .iter()
            .zip(locals)
            .take_while(|(a, b)| a == b)
            .count();
        let same = common == was && common == is;
        let mut types = |out: &mut Vec<u8>, types: &[VType]| {
            for t in types {
                if t.tag == vtag::PARAMETER {
                    out.push(vtag::OBJECT);
                    out.extend_from_slice(&resolve(t.data)?.to_be_bytes());
                } else {
                    out.push(t.tag);
                    if VType::has_data(t.tag) {
                        out.extend_from_slice(&t.data.to_be_bytes());
                    }
                }
            }
            Ok(())
        };
        let out = &mut *self.out;
        match stack {
            [] if same && delta < 64 => out.push(delta as u8),
            [] if same => out.extend_from_slice(&[251, d[0], d[1]]),
            [] if common == was && is - was <= 3 => {
                out.extend_from_slice(&[251 + (is - was) as u8, d[0], d[1]]);
                types(out, &locals[was..])?;
            }
            [] if common == is && was - is <= 3 => {
                out.extend_from_slice(&[251 - (was - is) as u8, d[0], d[1]]);
            }
            [_] if same && delta < 64 => {
                out.push(64 + delta as u8);
                types(out, stack)?;
            }
            [_] if same => {
                out.extend_from_slice(&[247, d[0], d[1]]);
                types(out, stack)?;
            }
            _ => {
                out.extend_from_slice(&[255, d[0], d[1]]);
                out.extend_from_slice(&(is as u16).to_be_bytes());
                types(out, locals)?;
                out.extend_from_slice(&(stack.len() as u16).to_be_bytes());
                types(out, stack)?;
            }
        }
        self.last = Some(bci);
        self.count += 1;
        self.before.truncate(common);
        self.before.extend_from_slice(&locals[common..]);
        Ok(())
    }

    /// Ends the attribute; `false` if it has more frames than it can count.
    pub(crate) fn finish(self) -> bool {
        let n = (self.out.len() - self.start - 6) as u32;
        self.out[self.start + 2..self.start + 6].copy_from_slice(&n.to_be_bytes());
        self.out[self.start + 6..self.start + 8]
            .copy_from_slice(&(self.count as u16).to_be_bytes());
        self.count <= 65535
    }
}
