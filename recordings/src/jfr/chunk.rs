//! A chunk: its types, then its constants, then its events.

use super::constants::Constants;
use super::events;
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

/// Reads a whole chunk; `None` if the chunk is damaged.
pub(super) fn read(
    header: &Header,
    chunk: &[u8],
    wanted: &[&str],
    seen: &mut Seen,
    sink: &mut dyn Sink,
) -> Option<()> {
    let (metadata, _) = event(chunk, header.metadata)?;
    let types = match metadata {
        (METADATA, body) => Types::parse(body)?,
        _ => return None,
    };
    let mut constants = Constants::new(&types);
    let mut at = SIZE;
    while at < chunk.len() {
        let ((of, body), next) = event(chunk, at)?;
        if of == CHECKPOINT {
            constants.add(body)?;
        }
        at = next;
    }
    let mut found = events::Events::new(&types, wanted);
    let mut at = SIZE;
    while at < chunk.len() {
        let ((of, body), next) = event(chunk, at)?;
        if of != CHECKPOINT && of != METADATA {
            found.see(of, body, &constants, seen, sink);
        }
        at = next;
    }
    found.tell(&constants, sink);
    Some(())
}
