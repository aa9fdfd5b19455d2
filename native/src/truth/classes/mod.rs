//! Classes as they load.

pub mod hook_class;
pub mod ids;
pub mod prepared;
pub mod rewriting;
pub mod unseen;
