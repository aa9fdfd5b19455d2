//! The layers: what walkers answer, held against what is known.

pub mod at_check;
pub mod at_signal;
pub mod walks;
