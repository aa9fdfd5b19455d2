//! The exception table (JVMS 4.7.3). First come the entries of hooks at handlers, which cover only
//! the calls of these hooks. Then come the method's own entries, then those of the catch-alls.

use crate::cover::{CatchAlls, Covered};
use crate::hooks::{Form, code as hooks};
use crate::layout::Moves;
use crate::reason::Reason;
use classfile::file::{Code, ExceptionEntry};

/// Writes the table. `overflow` is the class constant of `java/lang/StackOverflowError`.
pub(crate) fn write(
    out: &mut Vec<u8>,
    code: &Code<'_>,
    moves: Moves<'_>,
    covered: &[Covered],
    catch_alls: CatchAlls,
    form: Form,
    overflow: u16,
) -> Result<(), Reason> {
    let count_at = out.len();
    out.extend_from_slice(&[0, 0]);
    for (handler, local) in moves.scan.handlers().zip(form.token().into_iter().cycle()) {
        let hook = moves.hook(handler);
        let call = hook + hooks::caught_call_at(local);
        ExceptionEntry {
            start: call as u16,
            end: (call + hooks::INVOKE) as u16,
            handler: (hook + hooks::caught_resumes_at(local)) as u16,
            catch_type: overflow,
        }
        .write(out);
    }
    for e in code.exceptions() {
        for (start, end) in without_own_hook(e, moves) {
            ExceptionEntry {
                start: start as u16,
                end: end as u16,
                handler: moves.hook(e.handler.into()) as u16,
                catch_type: e.catch_type,
            }
            .write(out);
        }
    }
    for &c in covered {
        // The range starts behind the call of the entry hook. The hook's check is in the range.
        let start = match c.start {
            0 => form.entry_length(false) as u16,
            start => moves.hook(start) as u16,
        };
        ExceptionEntry {
            start,
            end: moves.hook(c.end) as u16,
            handler: catch_alls.of(c) as u16,
            catch_type: 0,
        }
        .write(out);
    }
    let count = (out.len() - count_at - 2) / 8;
    let count = u16::try_from(count).map_err(|_| Reason::TableFull)?;
    out[count_at..count_at + 2].copy_from_slice(&count.to_be_bytes());
    Ok(())
}

/// The moved range of one of the method's own entries. A handler may cover its own start (javac
/// generates such handlers), but not the hook there, because the hook would throw into itself. So
/// the range is split.
fn without_own_hook(e: ExceptionEntry, moves: Moves<'_>) -> impl Iterator<Item = (u32, u32)> {
    let range = moves.hook(e.start.into())..moves.hook(e.end.into());
    let hook = moves.hook(e.handler.into());
    let parts = if range.contains(&hook) {
        [
            (range.start, hook),
            (hook + moves.lengths.caught, range.end),
        ]
    } else {
        [(range.start, range.end), (0, 0)]
    };
    parts.into_iter().filter(|(start, end)| start < end)
}
