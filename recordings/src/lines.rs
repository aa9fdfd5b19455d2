//! Stacks as JSON: each line has one record.

use crate::error::{Error, malformed};
use crate::format::Format;
use crate::sink::{Frame, FramePosition, Method, Note, Samples, Sink, Stack, internal_name};
use serde::Deserialize;
use std::io::{BufRead, Read};

/// The format.
pub(crate) struct Lines;

/// One line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// The frames, top first.
    frames: Vec<LineFrame>,
    /// How the thread started; absent if this is not known, or if the lowest frame is missing.
    #[serde(default)]
    start: Option<LineStart>,
    /// Any value that identifies the thread.
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

impl LineStart {
    fn name(self) -> &'static str {
        match self {
            LineStart::Java => "java",
            LineStart::Launcher => "launcher",
            LineStart::Unknown => "unknown",
        }
    }
}

impl Format for Lines {
    fn fits(&self, head: &[u8]) -> bool {
        head.trim_ascii_start().starts_with(b"{") || head.trim_ascii().is_empty()
    }

    fn read(
        &self,
        input: &mut dyn BufRead,
        _: &[String],
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let mut text = String::new();
        let (mut number, mut without) = (0u64, 0);
        while next(input, &mut text)? {
            number += 1;
            if text.trim().is_empty() {
                continue;
            }
            let line: Line = serde_json::from_str(&text)
                .map_err(|e| malformed(format!("line {number}: {e}")))?;
            let frames = line.frames.iter().map(|frame| Frame {
                method: sink.method(Method {
                    class: &internal_name(&frame.class),
                    name: &frame.method,
                    descriptor: Some(&frame.descriptor),
                }),
                place: frame
                    .bci
                    .map_or(FramePosition::Native, |bci| FramePosition::Bci(bci.into())),
            });
            let frames: Vec<Frame> = frames.collect();
            let samples = [Samples {
                thread: line.thread,
                times: 1,
                start: line.start.map(LineStart::name),
            }];
            if frames.is_empty() {
                without += 1;
                continue;
            }
            sink.stack(Stack {
                frames: &frames,
                whole: line.start.is_some(),
                samples: &samples,
            });
        }
        if without > 0 {
            sink.note(Note::WithoutJava(without));
        }
        Ok(())
    }
}

/// The longest line that a file may have, in bytes.
const LONGEST: u64 = 64 << 20;

/// Reads the next line into `line`. Returns false at the end of the input. Bytes that are not UTF-8
/// are replaced.
pub(crate) fn next(input: &mut dyn BufRead, line: &mut String) -> Result<bool, Error> {
    let mut bytes = vec![];
    input.take(LONGEST).read_until(b'\n', &mut bytes)?;
    if bytes.len() as u64 == LONGEST {
        return Err(malformed("a line of more than 64 MB"));
    }
    line.clear();
    line.push_str(&String::from_utf8_lossy(&bytes));
    Ok(!bytes.is_empty())
}
