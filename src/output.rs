//! All output of commands. `println!` and `print!` panic if a write fails; the functions here
//! return the error.
//!
//! A closed pipe is no error, because the reader, for example `head`, has seen enough. A full disk
//! is an error, because the reader lacks a part of the output.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

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

/// Whether a file that a user named stands for standard input or output.
pub fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Prints a message on standard error. An error of this write is ignored, because nothing can be
/// done about the error.
pub fn say(message: impl fmt::Display) {
    let message = without_number(message.to_string());
    let _ = print(Stream::Error, &format!("stackwitness: {message}\n"));
}

/// A message without the numbers of the system's errors, which stand behind their texts: `(os error 2)`.
fn without_number(mut message: String) -> String {
    const NUMBER: &str = " (os error ";
    while let Some(at) = message.find(NUMBER)
        && let Some(length) = message[at..].find(')')
    {
        message.replace_range(at..=at + length, "");
    }
    message
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

#[cfg(test)]
mod tests {
    use super::without_number;

    #[test]
    fn numbers_of_errors_are_left_out() {
        let told = |text: &str| without_number(text.into());
        assert_eq!(
            told("a: No such file (os error 2); see b"),
            "a: No such file; see b"
        );
        assert_eq!(told("nothing (os error"), "nothing (os error");
    }
}
