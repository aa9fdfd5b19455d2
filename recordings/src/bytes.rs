//! Bytes of a file, read one after another and never beyond their end.

/// The bytes that are left to read.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A number with seven bits in each byte, the lowest bits first. JFR's ninth byte has eight
    /// bits, so no number has more than nine bytes.
    #[inline]
    pub fn jfr_number(&mut self) -> Option<i64> {
        let mut number = 0u64;
        for i in 0..9 {
            let byte = u64::from(*self.0.get(i)?);
            if i == 8 || byte < 0x80 {
                self.0 = &self.0[i + 1..];
                return Some((number | byte << (7 * i)) as i64);
            }
            number |= (byte & 0x7f) << (7 * i);
        }
        None
    }

    /// A number with seven bits in each byte, the lowest bits first, in at most ten bytes.
    pub fn varint(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for i in 0..10 {
            let byte = u64::from(self.byte()?);
            number |= (byte & 0x7f).checked_shl(7 * i).unwrap_or(0);
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// The bytes behind a number that gives their count.
    pub fn counted(&mut self) -> Option<&'a [u8]> {
        let n = self.varint()?;
        self.take(usize::try_from(n).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_where_they_say() {
        let mut bytes = Bytes(&[0x83, 0x01, 5]);
        assert_eq!((bytes.jfr_number(), bytes.0.len()), (Some(131), 1));
        let mut nine = Bytes(&[0xff; 9]);
        assert_eq!((nine.jfr_number(), nine.is_empty()), (Some(-1), true));
        assert_eq!(Bytes(&[0xff; 8]).jfr_number(), None);
        assert_eq!(Bytes(&[0x83, 0x01]).varint(), Some(131));
        assert_eq!(Bytes(&[0xff; 20]).varint(), None);
        assert_eq!(Bytes(&[5, 1]).counted(), None);
    }
}
