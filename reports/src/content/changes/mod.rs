//! How a build differs from another, or from the runs of a baseline.

pub(super) mod cells;
mod check;
mod comparison;
pub(super) mod since;

pub use check::check;
pub use comparison::comparison;
