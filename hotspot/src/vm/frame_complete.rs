//! Where the frame of generated code is complete (`share/code/codeBlob.hpp`).

use super::fields::Fields;
use crate::memory::Memory;

/// The field of a blob that gives the end of the code that builds its frame.
#[derive(Copy, Clone, Debug)]
pub struct FrameComplete {
    field: usize,
    is_short: bool,
}

impl FrameComplete {
    /// `None` if this VM does not describe its blobs as expected.
    pub fn find(fields: &impl Fields) -> Option<FrameComplete> {
        const BLOB: &[&str] = &["CodeBlob"];
        const FIELD: &str = "_frame_complete_offset";
        Some(FrameComplete {
            field: fields.field(BLOB, FIELD)?,
            // An int up to JDK 23, a short from JDK 24 on, and an int again in JDK 28.
            is_short: match fields.type_of(BLOB, FIELD)? {
                "int16_t" => true,
                "int" => false,
                _ => return None,
            },
        })
    }

    /// The distance from the start of the code of `blob`, in bytes; negative if the blob has no frame. `None` if the
    /// memory cannot be read.
    pub fn read(self, memory: &impl Memory, blob: usize) -> Option<i32> {
        let at = blob.wrapping_add(self.field);
        if self.is_short {
            Some(memory.u16(at)?.cast_signed().into())
        } else {
            memory.i32(at)
        }
    }
}
