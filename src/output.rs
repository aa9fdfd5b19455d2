//! All that a command prints. `println!` and its like panic where an output takes no more; nothing
//! here does.
//!
//! A reader that has closed its end of a pipe, as `head` does, has seen enough: that is no error.
//! An output that is full is one, because the reader lacks a part.

use std::fmt;
use std::io::{self, ErrorKind, Write};

/// Where text goes.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// Writes `text` to `stream`, to its last byte.
pub fn print(stream: Stream, text: &str) -> io::Result<()> {
    match stream {
        Stream::Output => whole(&mut io::stdout().lock(), text.as_bytes()),
        Stream::Error => whole(&mut io::stderr().lock(), text.as_bytes()),
    }
}

/// Says something on standard error. Nothing can be done where that fails.
pub fn say(message: impl fmt::Display) {
    let _ = print(Stream::Error, &format!("stackwitness: {message}\n"));
}

fn whole(stream: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    // Flushed now: what is left at the end of the process is lost without a word.
    closed_is_fine(stream.write_all(bytes).and_then(|()| stream.flush()))
}

/// Takes a closed pipe for success.
pub fn closed_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
