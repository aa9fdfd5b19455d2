//! Writes hooked code: the code array, its exception table and its other tables.

pub(crate) mod body;
pub(crate) mod exceptions;
mod switch;
pub(crate) mod tables;
