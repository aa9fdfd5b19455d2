//! Google's `profile.proto`: samples of locations, locations of functions, names in a table of
//! strings. The format has no bytecode indices.

use crate::bytes::Bytes;
use crate::error::{Error, malformed};
use crate::format::Format;
use crate::shown::{Frames, Shown};
use crate::sink::Sink;
use std::collections::HashMap;
use std::io::{BufRead, Read};

/// The format.
pub(crate) struct Pprof;

/// The largest profile that is read, in bytes. The whole profile is in memory, because the names
/// are behind the samples.
const LARGEST: u64 = 256 << 20;

/// A field of a message.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The next field, with its number; `None` at the end of the message.
fn field<'a>(bytes: &mut Bytes<'a>) -> Option<Result<(u64, Field<'a>), ()>> {
    if bytes.is_empty() {
        return None;
    }
    let mut one = || {
        let key = bytes.varint()?;
        let value = match key & 7 {
            0 => Field::Number(bytes.varint()?),
            1 => Field::Bytes(bytes.take(8)?),
            2 => Field::Bytes(bytes.counted()?),
            5 => Field::Bytes(bytes.take(4)?),
            _ => return None,
        };
        Some((key >> 3, value))
    };
    Some(one().ok_or(()))
}

/// Calls `see` with each field of a message. Fails if the message is damaged.
fn message<'a>(bytes: &'a [u8], mut see: impl FnMut(u64, Field<'a>)) -> Result<(), Error> {
    let mut bytes = Bytes(bytes);
    while let Some(next) = field(&mut bytes) {
        let (number, value) = next.map_err(|()| malformed("a damaged profile"))?;
        see(number, value);
    }
    Ok(())
}

/// Packed numbers, or one number.
fn numbers(value: Field<'_>, into: &mut Vec<u64>) {
    match value {
        Field::Number(number) => into.push(number),
        Field::Bytes(bytes) => {
            let mut bytes = Bytes(bytes);
            into.extend(std::iter::from_fn(|| bytes.varint()));
        }
    }
}

impl Format for Pprof {
    fn fits(&self, head: &[u8]) -> bool {
        // The first field is a type of sample, a sample, a mapping or similar. It has a length, and
        // its content looks like a message.
        let mut bytes = Bytes(head);
        matches!(field(&mut bytes), Some(Ok((1, Field::Bytes(of)))) if !of.is_empty()
            && of.len() < 32 && matches!(of[0], 8 | 16))
    }

    fn read(
        &self,
        input: &mut dyn BufRead,
        _: &[String],
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let mut all = vec![];
        input.take(LARGEST).read_to_end(&mut all)?;
        if all.len() as u64 == LARGEST {
            return Err(malformed("a profile of more than 256 MB"));
        }
        let (mut samples, mut locations, mut functions) = (vec![], HashMap::new(), HashMap::new());
        let mut strings: Vec<&[u8]> = vec![];
        let mut failed = None;
        message(&all, |number, value| {
            let Field::Bytes(bytes) = value else { return };
            let result = match number {
                2 => sample(bytes).map(|sample| samples.push(sample)),
                4 => location(bytes).map(|(id, lines)| {
                    locations.insert(id, lines);
                }),
                5 => function(bytes).map(|(id, name)| {
                    functions.insert(id, name);
                }),
                6 => {
                    strings.push(bytes);
                    Ok(())
                }
                _ => Ok(()),
            };
            failed = failed.take().or(result.err());
        })?;
        if let Some(failed) = failed {
            return Err(failed);
        }
        let mut frames = Frames::default();
        for (stack, times) in samples {
            frames.clear();
            let lines = stack.iter().filter_map(|id| locations.get(id)).flatten();
            for &(function, line) in lines {
                let name = functions
                    .get(&function)
                    .and_then(|&name| strings.get(name as usize));
                let name = String::from_utf8_lossy(name.copied().unwrap_or_default());
                let line = u32::try_from(line).ok().filter(|&line| line > 0);
                frames.show(&Shown::of(&name), line, sink);
            }
            frames.sampled(times, sink);
        }
        frames.note(sink);
        Ok(())
    }
}

/// A sample's locations, top first, and how often it was taken.
fn sample(bytes: &[u8]) -> Result<(Vec<u64>, u64), Error> {
    let (mut stack, mut values) = (vec![], vec![]);
    message(bytes, |number, value| match number {
        1 => numbers(value, &mut stack),
        2 => numbers(value, &mut values),
        _ => {}
    })?;
    // By custom the first value is the number of samples. A known unit is not required.
    let times = values.first().copied().filter(|&times| times < 1 << 32);
    Ok((stack, times.unwrap_or(1).max(1)))
}

/// A location: its number, and its functions with lines. The inlined functions come first.
fn location(bytes: &[u8]) -> Result<(u64, Vec<(u64, u64)>), Error> {
    let (mut id, mut lines, mut failed) = (0, vec![], None);
    message(bytes, |number, value| match (number, value) {
        (1, Field::Number(number)) => id = number,
        (4, Field::Bytes(bytes)) => {
            let (mut function, mut line) = (0, 0);
            let result = message(bytes, |number, value| match (number, value) {
                (1, Field::Number(number)) => function = number,
                (2, Field::Number(number)) => line = number,
                _ => {}
            });
            failed = failed.take().or(result.err());
            lines.push((function, line));
        }
        _ => {}
    })?;
    failed.map_or(Ok((id, lines)), Err)
}

/// A function: its number, and the index of its name among the strings.
fn function(bytes: &[u8]) -> Result<(u64, u64), Error> {
    let (mut id, mut name) = (0, 0);
    message(bytes, |number, value| match (number, value) {
        (1, Field::Number(number)) => id = number,
        (2, Field::Number(number)) => name = number,
        _ => {}
    })?;
    Ok((id, name))
}
