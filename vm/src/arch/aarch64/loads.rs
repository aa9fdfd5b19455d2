//! Nobody has written loads that may fault for this architecture: [`LOADS`] says so, and no load has a value.

use hotspot::arch::{Arch, Native, NotKnown};

/// Not known.
pub const LOADS: Result<(), NotKnown> = Err(NotKnown {
    what: "how a load that faults is taken back",
    on: Native::NAME,
});

/// Has no value.
pub fn byte(_: usize) -> Option<u32> {
    None
}

/// Has no value.
pub fn half(_: usize) -> Option<u32> {
    None
}

/// Has no value.
pub fn int(_: usize) -> Option<u32> {
    None
}

/// Has no value.
pub fn word(_: usize) -> Option<usize> {
    None
}

/// Has no value.
pub fn bytes(_: usize) -> Option<[u8; 16]> {
    None
}

/// There is nothing to prepare.
pub fn prepare() {}

/// There are no loads.
pub fn resumption(_: usize) -> Option<usize> {
    None
}
