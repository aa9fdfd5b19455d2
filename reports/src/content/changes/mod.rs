//! How a build differs from another, or from the runs of a baseline.

pub(super) mod cells;
pub(super) mod check;
mod common;
mod comparison;
pub(super) mod since;
pub(super) mod worse;

pub use check::check;
pub use comparison::{base, comparison};
