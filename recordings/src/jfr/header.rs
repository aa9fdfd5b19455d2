//! The header of a chunk, in big-endian numbers.

/// What each chunk begins with.
pub(super) const MAGIC: &[u8] = b"FLR\0";

/// The size of a header in bytes.
pub(super) const SIZE: usize = 68;

/// What is needed of a header.
#[derive(Copy, Clone, Debug)]
pub(super) struct Header {
    /// The size of the chunk in bytes, the header included.
    pub size: u64,
    /// Where the event with the types is.
    pub metadata: usize,
}

impl Header {
    pub fn parse(head: &[u8; SIZE]) -> Result<Header, String> {
        if !head.starts_with(MAGIC) {
            return Err("no chunk begins here".into());
        }
        let number = |at: usize| {
            let bytes = head[at..at + 8].try_into().expect("eight bytes");
            u64::from_be_bytes(bytes)
        };
        // The lowest bit of the last byte tells that numbers have seven bits a byte.
        if head[SIZE - 1] & 1 == 0 {
            return Err("numbers of a fixed size are not supported".into());
        }
        let (size, metadata) = (number(8), number(24));
        if size <= SIZE as u64 || metadata < SIZE as u64 || metadata >= size {
            return Err("the chunk was not completed".into());
        }
        Ok(Header {
            size,
            metadata: metadata as usize,
        })
    }
}
