//! Recordings of JDK Flight Recorder, as the JDK and async-profiler write them.
//!
//! A recording is a sequence of chunks, each of which can be read without the others. A chunk has a
//! header, events, a description of all types, and pools of constants: methods, threads, stacks.
//! After HotSpot's `jfrChunkWriter.cpp`, `jfrTypeManager.cpp` and `jdk.jfr.internal.consumer`.

mod chunk;
mod constants;
mod events;
mod format;
mod header;
mod metadata;
pub mod samples;
mod seen;
mod stacks;
mod values;

pub(crate) use format::Jfr;
pub use seen::SAMPLES;
