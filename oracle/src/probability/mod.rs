//! What tests and intervals are made of, whatever they are of.
//!
//! * [`special`]: the special functions of tail probabilities;
//! * [`holm`]: many tests at once.

pub(crate) mod holm;
pub(crate) mod special;
