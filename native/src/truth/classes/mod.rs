//! Classes as they load.

pub mod prepared;
pub mod rewriting;
