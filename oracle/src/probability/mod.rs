//! What tests and intervals are made of, whatever they are of.
//!
//! * [`special`]: the special functions of tail probabilities;
//! * [`binomial`]: exact tests and intervals of shares;
//! * [`bound`]: the upper bound of a rate;
//! * [`holm`]: many tests at once.

pub(crate) mod binomial;
pub mod bound;
pub(crate) mod holm;
pub(crate) mod special;
