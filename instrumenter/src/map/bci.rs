//! BCIs before and after the rewrite.

/// A BCI of the method as it was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OriginalBci(pub u32);

/// A BCI of the method as it was written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RewrittenBci(pub u32);
