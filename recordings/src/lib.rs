//! Stacks that profilers recorded: one reader for each format.
//!
//! [`read`] finds out the format of a file by its first bytes, and hands the stacks to a [`Sink`].
//! No reader knows what the stacks are for, and none holds more than a part of its file in memory.
//!
//! | module | format |
//! |---|---|
//! | `jfr` | JDK Flight Recorder's files, of the JDK and of async-profiler |
//! | `lines` | JSON, one stack a line |
//! | `collapsed` | `frame;frame;frame COUNT`, the lowest frame first |
//! | `pprof` | Google's profile.proto |
//! | `thread_dump` | the text of `jstack`, `jcmd Thread.print` and SIGQUIT |
//! | `container` | gzip, LZ4 frames and zip archives with any of these in them |
//!
//! Input that is damaged is an [`Error`], or a [`Note`] if a part of it could be read. No input
//! makes a reader panic, and none makes it read for ever.
#![forbid(unsafe_code)]

mod bytes;
mod collapsed;
mod container;
mod error;
mod format;
mod formats;
mod jfr;
mod lines;
mod pprof;
mod sink;
mod thread_dump;

pub use container::read;
pub use error::Error;
pub use jfr::SAMPLES;
pub use sink::{Frame, Method, Note, Place, Samples, Sink, Stack};
