//! BCIs before and after the rewriting.

/// A BCI of the original method.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OriginalBci(pub u32);

/// A BCI of the rewritten method.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RewrittenBci(pub u32);
