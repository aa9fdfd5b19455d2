//! Classes as they load.

pub mod hidden;
pub mod hook_class;
pub mod prepared;
pub mod rewriting;
