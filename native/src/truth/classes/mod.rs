//! Classes as they load, and as they are unloaded.

pub mod choice;
pub mod files;
pub mod hidden;
pub mod hook_class;
pub mod prepared;
pub mod rewriting;
pub mod unloading;
