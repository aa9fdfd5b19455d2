//! Recordings of JDK Flight Recorder, as the JDK and async-profiler write them.
//!
//! A recording is a row of chunks, each of which can be read without the others. A chunk has a
//! header, events, a description of all types, and pools of constants: methods, threads, stacks.
//! After HotSpot's `jfrChunkWriter.cpp`, `jfrTypeManager.cpp` and `jdk.jfr.internal.consumer`.

mod chunk;
mod constants;
mod events;
mod header;
mod metadata;
mod values;

use crate::{Error, Format, Note, Sink};
use std::collections::BTreeMap;
use std::io::{BufRead, Read};

/// The events of the samplers.
pub const SAMPLES: [&str; 3] = [
    "jdk.ExecutionSample",
    "jdk.NativeMethodSample",
    "jdk.CPUTimeSample",
];

/// The format.
pub(crate) struct Jfr;

/// What is seen of a whole recording.
#[derive(Debug, Default)]
struct Seen {
    /// Events that hold stacks, by name.
    with_stacks: BTreeMap<String, u64>,
    failed: u64,
    biased: u64,
    interference: BTreeMap<String, u64>,
}

impl Format for Jfr {
    fn fits(&self, head: &[u8]) -> bool {
        head.starts_with(header::MAGIC)
    }

    fn read(
        &self,
        input: &mut dyn BufRead,
        events: &[String],
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let wanted: Vec<&str> = if events.is_empty() {
            SAMPLES.into()
        } else {
            events.iter().map(String::as_str).collect()
        };
        let mut seen = Seen::default();
        let mut buffer = vec![];
        let mut number = 0;
        while !input.fill_buf()?.is_empty() {
            number += 1;
            if let Err(why) = one(input, &mut buffer, &wanted, &mut seen, sink) {
                // Where the next chunk would begin is not known.
                sink.note(Note::Cut(format!("chunk {number} and what follows: {why}")));
                break;
            }
        }
        if let Some(wanted) = events
            .iter()
            .find(|&name| !seen.with_stacks.contains_key(name))
        {
            return Err(Error::NoSuchEvent {
                wanted: wanted.clone(),
                known: seen.with_stacks.into_keys().collect(),
            });
        }
        let notes = [
            (seen.failed, Note::Failed as fn(u64) -> Note),
            (seen.biased, Note::Biased),
        ];
        for (number, note) in notes.into_iter().filter(|&(number, _)| number > 0) {
            sink.note(note(number));
        }
        for (what, times) in seen.interference {
            sink.note(Note::Interference(format!("{what} ({times} events)")));
        }
        Ok(())
    }
}

/// Reads one chunk.
fn one(
    input: &mut dyn BufRead,
    buffer: &mut Vec<u8>,
    wanted: &[&str],
    seen: &mut Seen,
    sink: &mut dyn Sink,
) -> Result<(), String> {
    let mut head = [0; header::SIZE];
    let cut = |_| "the file is cut off".to_owned();
    input.read_exact(&mut head).map_err(cut)?;
    let header = header::Header::parse(&head)?;
    buffer.clear();
    buffer.extend(head);
    let rest = header.size - header::SIZE as u64;
    // Not allocated at once: a damaged header can name any size.
    let read = input
        .take(rest)
        .read_to_end(buffer)
        .map_err(|e| e.to_string())?;
    if (read as u64) < rest {
        return Err(format!(
            "the file is cut off: {read} of {rest} bytes are there"
        ));
    }
    chunk::read(&header, buffer, wanted, seen, sink).ok_or_else(|| "damaged".to_owned())
}
