//! Stacks as JSON, one record a line.

use super::stack::{Stack, internal_name};
use crate::error::Error;
use oracle::edge::{EdgeFrame, ThreadStart, World};
use oracle::trace::Location;
use serde::Deserialize;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// One line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// Top first.
    frames: Vec<LineFrame>,
    /// How the thread started; absent if that is not known, or the lowest frame is not there.
    #[serde(default)]
    start: Option<LineStart>,
    /// Whatever tells the thread from others.
    #[serde(default)]
    thread: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineFrame {
    /// Name of the class, with dots or slashes.
    class: String,
    method: String,
    descriptor: String,
    /// Absent in a native frame.
    #[serde(default)]
    bci: Option<u16>,
}

#[derive(Copy, Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LineStart {
    Java,
    Launcher,
    Unknown,
}

/// Reads all stacks of a file; their frames become those of `world`.
pub fn read(path: &Path, world: &mut World) -> Result<Vec<Stack>, Error> {
    let file = File::open(path).map_err(Error::about(path))?;
    let mut stacks = Vec::new();
    for (number, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(Error::about(path))?;
        if line.trim().is_empty() {
            continue;
        }
        let line = serde_json::from_str(&line);
        let line = line.map_err(|e| Error::about(path)(format!("line {}: {e}", number + 1)))?;
        stacks.push(stack(line, world));
    }
    Ok(stacks)
}

fn stack(line: Line, world: &mut World) -> Stack {
    let frames = line.frames.iter().map(|frame| {
        let class = internal_name(&frame.class);
        let (method, descriptor) = (frame.method.as_bytes(), frame.descriptor.as_bytes());
        EdgeFrame {
            method: world.method(class.as_bytes(), method, descriptor),
            location: frame
                .bci
                .map_or(Location::NATIVE, |bci| Location(bci.into())),
        }
    });
    Stack {
        thread: line.thread,
        frames: frames.collect(),
        bottom: line.start.map(|start| match start {
            LineStart::Java => ThreadStart::Java,
            LineStart::Launcher => ThreadStart::Launcher,
            LineStart::Unknown => ThreadStart::Unknown,
        }),
    }
}
