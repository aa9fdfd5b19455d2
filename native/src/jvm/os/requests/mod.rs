//! Requests of the JVM's own samplers, which come as signals: handlers of ours before those of the JVM, and
//! memory for what these handlers copy.

pub mod pool;
pub mod wrapping;
