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
mod jfr;
mod lines;
mod pprof;
mod sink;
mod thread_dump;

pub use container::read;
pub use jfr::SAMPLES;
pub use sink::{Frame, Method, Note, Place, Samples, Sink, Stack};

use std::fmt;
use std::io;

/// Reads one format.
trait Format {
    /// Whether the file that begins so is of this format. `head` has the first 4,096 bytes of the
    /// file, or the whole file.
    fn fits(&self, head: &[u8]) -> bool;

    /// Hands all stacks of a file to `sink`. `events` names the events that are wanted of formats
    /// that have events; empty: those of samplers.
    fn read(
        &self,
        input: &mut dyn io::BufRead,
        events: &[String],
        sink: &mut dyn Sink,
    ) -> Result<(), Error>;
}

/// All formats. The first that fits is taken.
const FORMATS: [&dyn Format; 5] = [
    &jfr::Jfr,
    &pprof::Pprof,
    &thread_dump::ThreadDump,
    &lines::Lines,
    &collapsed::Collapsed,
];

/// Why a file cannot be read.
#[derive(Debug)]
pub enum Error {
    /// The system says why.
    Io(io::Error),
    /// The file is not as its format has it.
    Malformed(String),
    /// None of the formats fits.
    UnknownFormat,
    /// There is no such event; these hold stacks.
    NoSuchEvent {
        /// What was asked for.
        wanted: String,
        /// What the recording has.
        known: Vec<String>,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(e) => e.fmt(f),
            Error::Malformed(what) => f.write_str(what),
            Error::UnknownFormat => f.write_str(
                "neither a JFR recording, nor JSON lines, nor collapsed stacks, nor a pprof \
                 profile, nor a thread dump",
            ),
            Error::NoSuchEvent { wanted, known } => write!(
                f,
                "no event `{wanted}` holds stacks; these do: {}",
                known.join(", ")
            ),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::Malformed("the file is cut off".into()),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                Error::Malformed(error.to_string())
            }
            _ => Error::Io(error),
        }
    }
}

/// An error of a file that is not as it must be.
fn malformed(what: impl Into<String>) -> Error {
    Error::Malformed(what.into())
}
