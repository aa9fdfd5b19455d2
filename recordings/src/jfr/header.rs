//! The header of a chunk, in big-endian numbers.

/// The first bytes of each chunk.
pub(super) const MAGIC: &[u8] = b"FLR\0";

/// The size of a header in bytes.
pub(super) const SIZE: usize = 68;

/// The needed fields of a header.
#[derive(Copy, Clone, Debug)]
pub(super) struct Header {
    /// The size of the chunk in bytes, the header included.
    pub size: u64,
    /// The place of the event with the types.
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
        // The lowest bit of the last byte says that numbers have seven bits in each byte.
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
