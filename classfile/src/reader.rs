//! A cursor over the class file that knows its offset in the file.

use crate::error::{Malformed, Result};

const SHORT: &str = "JVMS 4.8: the file ends, or a length runs out, in the middle of an item";

/// A cursor over a part of the class file.
///
/// It always holds the whole file, so that errors can name offsets from the file's start.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    file: &'a [u8],
    pos: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    /// A cursor over the whole of `file`.
    pub fn new(file: &'a [u8]) -> Self {
        Self {
            file,
            pos: 0,
            end: file.len(),
        }
    }

    /// A cursor over `file[start..end]`; a range outside the file is clipped.
    #[inline]
    pub fn over(file: &'a [u8], start: usize, end: usize) -> Self {
        let end = end.min(file.len());
        Self {
            file,
            pos: start.min(end),
            end,
        }
    }

    /// The offset in the file of the next byte.
    #[inline]
    pub fn pos(&self) -> usize {
        self.pos
    }

    /// How many bytes are left.
    #[inline]
    pub fn left(&self) -> usize {
        self.end - self.pos
    }

    /// An error at the cursor.
    #[cold]
    pub fn malformed(&self, rule: &'static str) -> Malformed {
        Malformed {
            offset: self.pos,
            rule,
        }
    }

    /// The next `n` bytes.
    #[inline]
    pub fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        if n > self.left() {
            return Err(self.malformed(SHORT));
        }
        let bytes = &self.file[self.pos..self.pos + n];
        self.pos += n;
        Ok(bytes)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.file[self.pos..self.end].first_chunk::<N>() {
            Some(bytes) => {
                self.pos += N;
                Ok(*bytes)
            }
            None => Err(self.malformed(SHORT)),
        }
    }

    /// An unsigned byte.
    #[inline]
    pub fn u1(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// An unsigned big-endian 16-bit number.
    #[inline]
    pub fn u2(&mut self) -> Result<u16> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    /// An unsigned big-endian 32-bit number.
    #[inline]
    pub fn u4(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    /// A cursor over the next `n` bytes, which `self` skips.
    pub fn sub(&mut self, n: usize) -> Result<Reader<'a>> {
        let start = self.pos;
        self.take(n)?;
        Ok(Reader {
            file: self.file,
            pos: start,
            end: start + n,
        })
    }

    /// Fails with `rule` unless everything was read.
    #[inline]
    pub fn finish(&self, rule: &'static str) -> Result<()> {
        if self.left() == 0 {
            Ok(())
        } else {
            Err(self.malformed(rule))
        }
    }
}
