//! All output of commands. `println!` and `print!` panic if a write fails; the functions here
//! return the error.
//!
//! A closed pipe is no error, because the reader, for example `head`, has seen enough. A full disk
//! is an error, because the reader lacks a part of the output.

use std::fmt;
use std::io::{self, ErrorKind, Write};

/// Where the text goes.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// Writes the whole `text` to `stream`.
pub fn print(stream: Stream, text: &str) -> io::Result<()> {
    match stream {
        Stream::Output => whole(&mut io::stdout().lock(), text.as_bytes()),
        Stream::Error => whole(&mut io::stderr().lock(), text.as_bytes()),
    }
}

/// Prints a message on standard error. An error of this write is ignored, because nothing can be
/// done about the error.
pub fn say(message: impl fmt::Display) {
    let _ = print(Stream::Error, &format!("stackwitness: {message}\n"));
}

fn whole(stream: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    // Flushed now: an error at the end of the process would go unnoticed.
    closed_is_fine(stream.write_all(bytes).and_then(|()| stream.flush()))
}

/// Takes a closed pipe for success.
pub fn closed_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
