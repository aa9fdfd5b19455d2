//! Helpers whose output is needed.

use super::child::{Ended, Process};
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Runs a helper to its end and returns its output. Fails if the helper fails or takes longer than
/// `patience`.
pub(crate) fn output(mut command: Command, patience: Duration) -> io::Result<String> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut process = Process::spawn(&mut command)?;
    let mut stdout = process.take_stdout().expect("it is piped");
    let reader = thread::spawn(move || {
        let mut text = vec![];
        stdout
            .read_to_end(&mut text)
            .map(|_| String::from_utf8_lossy(&text).into_owned())
    });
    let start = Instant::now();
    while start.elapsed() < patience {
        if let Some(Ended { status, .. }) = process.try_wait()? {
            // No other process may keep the output open.
            process.end(Path::new("/"));
            return if status.success() {
                reader
                    .join()
                    .unwrap_or_else(|_| Err(io::Error::other("its output was lost")))
            } else {
                Err(io::Error::other(format!("it ended with {status}")))
            };
        }
        thread::sleep(Duration::from_millis(10));
    }
    process.end(Path::new("/"));
    Err(io::Error::other(format!(
        "it did not end within {} s",
        patience.as_secs()
    )))
}
