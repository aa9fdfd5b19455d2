//! The exception table (JVMS 4.7.3): the method's own entries, then those of the catch-alls.

use crate::code::{Code, ExceptionEntry};
use crate::coverage::{CatchAlls, Covered};
use crate::hooks;
use crate::layout::Moves;
use crate::outcome::Reason;

/// Writes the table of a method whose hooks' local variable is `local`.
pub(crate) fn write(
    out: &mut Vec<u8>,
    code: &Code<'_>,
    moves: Moves<'_>,
    covered: &[Covered],
    catch_alls: CatchAlls,
    local: u16,
) -> Result<(), Reason> {
    let count = code.exceptions().len() + covered.len();
    let count = u16::try_from(count).map_err(|_| Reason::TableFull)?;
    out.extend_from_slice(&count.to_be_bytes());
    let moved = |bci: u32| moves.hook(bci) as u16;
    for e in code.exceptions() {
        // javac lets a handler cover its own start. Its hook must not be covered: where the
        // stack is too small for it, it would throw into itself for ever.
        let start = match e.start == e.handler {
            true => moves.instruction(e.start.into()) as u16,
            false => moved(e.start.into()),
        };
        ExceptionEntry {
            start,
            end: moved(e.end.into()),
            handler: moved(e.handler.into()),
            catch_type: e.catch_type,
        }
        .write(out);
    }
    for &c in covered {
        // From right behind the entry hook's store on, its check included.
        let start = match c.start {
            0 => hooks::entry_length(local, false) as u16,
            start => moved(start),
        };
        ExceptionEntry {
            start,
            end: moved(c.end),
            handler: catch_alls.of(c) as u16,
            catch_type: 0,
        }
        .write(out);
    }
    Ok(())
}
