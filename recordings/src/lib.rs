//! Stacks that profilers recorded: one reader for each format.
//!
//! # Purpose
//!
//! [`read`] recognises the format of a file by its first bytes, and passes the stacks to a [`Sink`].
//! Readers do not know what the stacks are for.
//!
//! | module | format |
//! |---|---|
//! | `jfr` | JDK Flight Recorder's files, of the JDK and of async-profiler |
//! | `lines` | JSON, one stack a line |
//! | `collapsed` | `frame;frame;frame COUNT`, the lowest frame first |
//! | `pprof` | Google's profile.proto |
//! | `foreign` | names of formats that are refused |
//! | `shown` | the names of frames in the last two |
//! | `thread_dump` | the text of `jstack`, `jcmd Thread.print` and SIGQUIT |
//! | [`samples`] | the samples in JDK Flight Recorder's files one by one, each with its time |
//! | `container` | gzip, LZ4 frames and zip archives with any of these in them |
//!
//! # Duties of the caller
//!
//! * A [`Sink`] gives each [`Method`] a number. Later frames refer to methods by these numbers. A reader
//!   may pass a method more than once.
//! * Not every format has descriptors, bytecode indices, whole stacks or threads. Their absence is in the
//!   types: [`Method::descriptor`], [`FramePosition`], [`Stack::whole`], [`Samples::thread`].
//!
//! # Limits
//!
//! Damaged input is an [`Error`], or a [`Note`] if a part of the input could be read. No input makes a
//! reader panic or read for ever. A reader holds a part of its file in memory, except that of pprof,
//! which holds the whole profile and refuses more than 256 MB. Frames of native libraries and of the
//! kernel are left out, and stacks without another frame are counted ([`Note::WithoutJava`]).
#![forbid(unsafe_code)]

mod bytes;
mod collapsed;
mod container;
mod error;
mod foreign;
mod format;
mod formats;
mod jfr;
mod lines;
mod pprof;
mod shown;
mod sink;
mod thread_dump;

pub use container::read;
pub use error::Error;
pub use jfr::{SAMPLES, samples};
pub use sink::{Frame, FramePosition, IN_MAIN, Method, Note, PWD, Samples, Sink, Stack};
