//! Stack map frames (JVMS 4.7.4), read and written as they are.

use super::vtype::VType;
use crate::error::{Malformed, Result};
use crate::reader::Reader;

/// The type of a frame that lists strict fields without a value, and is followed by a frame of another type (JEP 401).
const EARLY_LARVAL: u8 = 246;

/// A frame in the form of the file.
#[derive(Clone, Debug)]
pub struct RawFrame<'a> {
    /// The strict fields that have no value yet, if an `early_larval_frame` lists them (JEP 401): two bytes each, the index of
    /// a NameAndType. The rest of the frame is the frame that the list stands before.
    pub unset_fields: Option<&'a [u8]>,
    /// The first byte of the frame without that list.
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
        let mut frame_type = r.u1()?;
        let mut unset_fields = None;
        if frame_type == EARLY_LARVAL {
            let count = r.u2()?;
            unset_fields = Some(r.take(2 * usize::from(count))?);
            frame_type = r.u1()?;
        }
        let mut frame = RawFrame {
            unset_fields,
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
                    rule: "JVMS 4.7.4: frame types 128 to 245 are reserved, and 246 stands before another frame",
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
        if let Some(fields) = self.unset_fields {
            out.push(EARLY_LARVAL);
            out.extend_from_slice(&((fields.len() / 2) as u16).to_be_bytes());
            out.extend_from_slice(fields);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(table: &[u8]) -> Result<Vec<RawFrame<'_>>> {
        let mut frames = RawFrames::new(Reader::new(table))?;
        let mut all = vec![];
        while let Some(frame) = frames.next_frame()? {
            all.push(frame);
        }
        Ok(all)
    }

    /// The frames of a constructor of a value class, as javac 28 writes them: `y`, whose NameAndType is #8, has no value
    /// yet where the second stands.
    #[test]
    fn fields_without_a_value_are_read_and_written() {
        let table = [
            0, 3, 14, 246, 0, 1, 0, 8, 6, 246, 0, 0, 255, 0, 7, 0, 1, 6, 0, 0,
        ];
        let frames = read(&table).expect("well-formed");
        let lists: Vec<_> = frames.iter().map(|frame| frame.unset_fields).collect();
        assert_eq!(lists, [None, Some(&[0, 8][..]), Some(&[][..])]);
        let places: Vec<_> = frames.iter().map(|frame| frame.delta).collect();
        assert_eq!(places, [14, 6, 7]);
        let mut written = vec![0, 3];
        frames.iter().for_each(|frame| frame.write(&mut written));
        assert_eq!(written, table);
    }

    #[test]
    fn a_list_of_fields_stands_before_another_frame_and_is_whole() {
        for broken in [
            &[0, 1, 246, 0, 0, 246, 0, 0, 6][..],
            &[0, 1, 246, 0, 2, 0, 8, 6],
            &[0, 1, 246, 0, 0],
            &[0, 1, 245, 0, 0],
        ] {
            assert!(read(broken).is_err(), "{broken:?}");
        }
    }
}
