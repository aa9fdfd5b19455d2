//! Runs commands and checks their exit codes.

use crate::error::Error;
use std::process::{Command, Stdio};

/// Runs a command. Its output goes to this program's output.
pub fn run(command: &mut Command) -> Result<(), Error> {
    eprintln!("+ {}", shown(command));
    let status = command.stdin(Stdio::null()).status();
    check(command, status.map(|status| (status, String::new()))).map(drop)
}

/// Runs a command, and returns its standard output.
pub fn output(command: &mut Command) -> Result<String, Error> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output();
    let text = output.map(|out| {
        (
            out.status,
            String::from_utf8_lossy(&out.stdout).into_owned(),
        )
    });
    check(command, text)
}

fn check(
    command: &Command,
    result: std::io::Result<(std::process::ExitStatus, String)>,
) -> Result<String, Error> {
    let why = match result {
        Ok((status, text)) if status.success() => return Ok(text),
        Ok((status, _)) => status.to_string(),
        Err(error) => error.to_string(),
    };
    Err(Error::Command {
        command: shown(command),
        why,
    })
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}
