//! Facts of the processors.

pub mod x86_64;
