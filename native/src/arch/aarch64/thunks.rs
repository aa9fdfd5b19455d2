//! Nobody has written thunks before native methods for this architecture.

use crate::arch::ThunkTable;
use hotspot::arch::{Arch, Native, NotKnown};

/// Not known.
pub fn thunks() -> Result<ThunkTable, NotKnown> {
    Err(NotKnown {
        what: "how code before a native method keeps its arguments",
        on: Native::NAME,
    })
}
