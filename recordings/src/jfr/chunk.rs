//! A chunk: its types, then its constants, then its events.

use super::constants::Constants;
use super::events::Events;
use super::header::{Header, SIZE};
use super::metadata::Types;
use super::seen::Seen;
use crate::bytes::Bytes;
use crate::sink::Sink;

/// The event type of a chunk's description of types.
const METADATA: i64 = 0;
const CHECKPOINT: i64 = 1;

/// An event of a chunk: its type, and the bytes behind.
pub(super) type Event<'a> = (i64, Bytes<'a>);

/// The event at `at`, and the place of the next event.
fn event(chunk: &[u8], at: usize) -> Option<(Event<'_>, usize)> {
    let mut bytes = Bytes(chunk.get(at..)?);
    let size = usize::try_from(bytes.jfr_number()?).ok()?;
    let end = at
        .checked_add(size)
        .filter(|&end| end <= chunk.len() && size > 1)?;
    let head = chunk.len() - at - bytes.0.len();
    let mut body = Bytes(chunk.get(at + head..end)?);
    Some(((body.jfr_number()?, body), end))
}

/// The types of a chunk; `None` if the chunk is damaged.
pub(super) fn types(header: &Header, chunk: &[u8]) -> Option<Types> {
    match event(chunk, header.metadata)?.0 {
        (METADATA, body) => Types::parse(body),
        _ => None,
    }
}

/// The constants of a chunk; `None` if the chunk is damaged.
pub(super) fn constants<'a>(types: &'a Types, chunk: &'a [u8]) -> Option<Constants<'a>> {
    let mut constants = Constants::new(types);
    each(chunk, &mut |(of, body)| match of {
        CHECKPOINT => constants.add(body),
        _ => Some(()),
    })?;
    Some(constants)
}

/// Shows each event of the program to `see`; `None` if the chunk is damaged.
pub(super) fn events<'a>(chunk: &'a [u8], see: &mut dyn FnMut(Event<'a>)) -> Option<()> {
    each(chunk, &mut |event| {
        if event.0 != CHECKPOINT && event.0 != METADATA {
            see(event);
        }
        Some(())
    })
}

fn each<'a>(chunk: &'a [u8], see: &mut dyn FnMut(Event<'a>) -> Option<()>) -> Option<()> {
    let mut at = SIZE;
    while at < chunk.len() {
        let (event, next) = event(chunk, at)?;
        see(event)?;
        at = next;
    }
    Some(())
}

/// Reads a whole chunk; `None` if the chunk is damaged.
pub(super) fn read(
    header: &Header,
    chunk: &[u8],
    wanted: &[&str],
    seen: &mut Seen,
    sink: &mut dyn Sink,
) -> Option<()> {
    let types = types(header, chunk)?;
    let constants = constants(&types, chunk)?;
    let mut found = Events::new(&types, wanted);
    events(chunk, &mut |(of, body)| {
        found.see(of, body, &constants, seen, sink);
    })?;
    found.tell(&constants, seen, sink);
    Some(())
}
