//! Fault injection: walkers and hooks that fail on purpose, to see whether the judges notice (see
//! [`oracle::mutants`]).

pub mod fault_log;
pub mod hook_faults;
pub mod walker_faults;
