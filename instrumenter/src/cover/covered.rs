//! A range of code that a catch-all covers.

/// A range of code that a catch-all covers, in old BCIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Covered {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Whether `this` is not initialised here.
    pub(crate) uninitialized: bool,
}

/// Adds a range unless it is empty.
pub(crate) fn cover(covered: &mut Vec<Covered>, start: u32, end: u32, uninitialized: bool) {
    if start < end {
        covered.push(Covered {
            start,
            end,
            uninitialized,
        });
    }
}
