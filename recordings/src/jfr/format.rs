//! The format: a sequence of chunks.

use super::seen::{SAMPLES, Seen};
use super::{chunk, header};
use crate::error::Error;
use crate::format::Format;
use crate::sink::{Note, Sink};
use std::io::{BufRead, Read};

/// The format.
pub(crate) struct Jfr;

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
                // The start of the next chunk is not known.
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
        if seen.damaged > 0 {
            sink.note(Note::Cut(format!(
                "{} samples whose stack is damaged or missing",
                seen.damaged
            )));
        }
        let notes = [
            (seen.failed, Note::Failed as fn(u64) -> Note),
            (seen.without_stack, Note::WithoutStack),
            (seen.without_java, Note::WithoutJava),
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
    let header = fill(input, buffer)?;
    chunk::read(&header, buffer, wanted, seen, sink).ok_or_else(|| "damaged".to_owned())
}

/// Reads the bytes of the next chunk into `buffer`.
pub(super) fn fill(
    input: &mut dyn BufRead,
    buffer: &mut Vec<u8>,
) -> Result<header::Header, String> {
    let mut head = [0; header::SIZE];
    let cut = |_| "the file is cut off".to_owned();
    input.read_exact(&mut head).map_err(cut)?;
    let header = header::Header::parse(&head)?;
    buffer.clear();
    buffer.extend(head);
    let rest = header.size - header::SIZE as u64;
    // The buffer is not allocated at once, because a damaged header can give any size.
    let read = input
        .take(rest)
        .read_to_end(buffer)
        .map_err(|e| e.to_string())?;
    if (read as u64) < rest {
        return Err(format!(
            "the file is cut off: {read} of {rest} bytes are there"
        ));
    }
    Ok(header)
}
