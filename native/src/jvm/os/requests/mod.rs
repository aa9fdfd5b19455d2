//! Requests of samplers, which come as signals: handlers of ours before those of the JVM or of a profiler, and
//! memory for what these handlers copy.

pub mod pool;
pub mod profiler;
pub mod wrapping;
