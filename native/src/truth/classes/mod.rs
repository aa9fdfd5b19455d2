//! Classes as they load.

pub mod prepared;
pub mod rewriting;
pub mod unseen;
