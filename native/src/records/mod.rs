//! What is measured, where a crash cannot take it.

pub mod claim;
pub mod error_codes;
pub mod file;
pub mod profile;
pub mod slots;
