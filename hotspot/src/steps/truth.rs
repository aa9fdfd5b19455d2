//! The Java frames of a thread, by its calls.
//!
//! A caller's frames are those of the debug info record at its return address, or of its interpreter
//! frame. The top frame has a record only at some instructions. Between two records only the compiled
//! method itself is certain, so the truth has several candidates for the top, each with what it is worth.

use super::shadow::{Call, Interpreted};
use super::{Code, Piece, Place, WORD};
use std::rc::Rc;

/// A Java frame.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Line {
    /// The VM's address of the method.
    pub method: usize,
    /// The BCI.
    pub bci: Bci,
}

/// The BCI of a frame.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Bci {
    /// The frame is at this BCI.
    At(i32),
    /// The method is native.
    Native,
    /// The BCI is not known.
    Any,
    /// The BCI is not known, and only a frame that gives none is certainly right.
    NotGiven,
}

/// The top of a stack, as it may be.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Top {
    /// The frames above the callers, innermost first.
    pub lines: Vec<Line>,
    /// Whether these frames are certain. If not, the inlined frames are those of a neighbouring debug info
    /// record.
    pub is_certain: bool,
}

/// A stack.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Lines {
    /// What may be at the top; one candidate at least.
    pub tops: Vec<Top>,
    /// The frames of the callers, top first.
    pub callers: Vec<Line>,
}

/// The debug info records of compiled code around a program counter, innermost frames first.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Records {
    /// The record at the program counter.
    pub exact: Option<Vec<Line>>,
    /// The last record before the program counter.
    pub before: Option<Vec<Line>>,
    /// The first record behind the program counter.
    pub behind: Option<Vec<Line>>,
    /// Whether the record at the program counter is that of the call before it.
    pub is_of_call: bool,
}

/// Facts about methods and generated code.
pub trait Facts {
    /// The records of the compiled method `piece` around `pc`.
    fn records(&self, piece: Piece, pc: usize) -> Option<Rc<Records>>;
    /// The method of the compiled method or native wrapper `piece`.
    fn method(&self, piece: Piece) -> Option<usize>;
    /// Where the frame of an interpreted `method` stands whose bytecode pointer is `bcp`.
    fn bci(&self, method: usize, bcp: usize) -> Option<Bci>;
    /// The frame size of `piece` in words, the return address included.
    fn frame_words(&self, piece: Piece) -> Option<usize>;
    /// Whether `pc` is in the code that begins the compiled method `piece`, and completes its frame.
    fn is_at_beginning(&self, piece: Piece, pc: usize) -> bool;
    /// Whether `method` takes its callers from the stack to the heap: while it runs, the stack may have frames that are
    /// no longer the thread's.
    fn moves_frames(&self, method: usize) -> bool;
    /// Whether no instruction of `method` calls a method, so that compilers inline none; false where that is not known.
    fn calls_nothing(&self, method: usize) -> bool;
    /// Whether `pc` is in the stubs of the compiled method `piece`, behind its code.
    fn is_in_stubs(&self, piece: Piece, pc: usize) -> bool;
}

/// Why there is no truth.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Unknown {
    /// A caller has no debug info record at its return address.
    NoRecord,
    /// The VM's data could not be read.
    Unreadable,
    /// Frames are moved between the stack and the heap.
    Moving,
}

/// The frames of a thread at `place` with these `calls`, the oldest first.
pub fn lines(
    place: &Place,
    interpreted: Interpreted,
    calls: &[Call],
    facts: &impl Facts,
) -> Result<Lines, Unknown> {
    let mut rest = calls;
    let mut tops = top(place, interpreted, calls, facts)?;
    // Stubs without a record for their caller are called by compiled code.
    while let Some((call, older)) = rest.split_last() {
        if tops.iter().any(|top| !top.lines.is_empty())
            || call.has_frames() && !is_without_record(call, facts)?
        {
            break;
        }
        rest = older;
        if call.has_frames() {
            tops = between_records(call.piece, call.stands_at(), facts)?;
        }
    }
    let mut fp = match interpreted {
        Interpreted::Whole(_) => Some(place.fp),
        _ => None,
    };
    let mut callers = Vec::new();
    for call in rest.iter().rev() {
        if call.code == Code::Interpreter && fp.replace(call.fp) == Some(call.fp) {
            continue;
        }
        callers.extend(lines_of_call(call, facts)?);
    }
    Ok(Lines { tops, callers })
}

/// The frames that stand for the caller of one call, innermost first.
pub fn lines_of_call(call: &Call, facts: &impl Facts) -> Result<Vec<Line>, Unknown> {
    match call.code {
        Code::Interpreter => {
            let bci = facts
                .bci(call.method, call.bcp)
                .ok_or(Unknown::Unreadable)?;
            let method = call.method;
            Ok(vec![Line { method, bci }])
        }
        Code::Compiled => {
            let at = |pc: usize| facts.records(call.piece, pc).ok_or(Unknown::Unreadable);
            // Soon behind a handler there may be calls of its own, which have records.
            let exact = match &at(call.ret)?.exact {
                _ if call.throws => at(call.origin)?.exact.clone(),
                None => at(call.stands_at())?.exact.clone(),
                exact => exact.clone(),
            };
            exact.ok_or(Unknown::NoRecord)
        }
        Code::NativeWrapper => Ok(vec![native(call.piece, facts)?]),
        _ => Ok(vec![]),
    }
}

/// Whether compiled code has made this call without a debug info record, as calls of leaf functions are.
fn is_without_record(call: &Call, facts: &impl Facts) -> Result<bool, Unknown> {
    if call.code != Code::Compiled {
        return Ok(false);
    }
    let records = facts
        .records(call.piece, call.ret)
        .ok_or(Unknown::Unreadable)?;
    Ok(call.throws || records.exact.is_none())
}

fn native(piece: Piece, facts: &impl Facts) -> Result<Line, Unknown> {
    let method = facts.method(piece).ok_or(Unknown::Unreadable)?;
    Ok(Line {
        method,
        bci: Bci::Native,
    })
}

fn certain(lines: Vec<Line>) -> Top {
    Top {
        lines,
        is_certain: true,
    }
}

fn top(
    place: &Place,
    interpreted: Interpreted,
    calls: &[Call],
    facts: &impl Facts,
) -> Result<Vec<Top>, Unknown> {
    let none = || certain(vec![]);
    let any = |method| {
        certain(vec![Line {
            method,
            bci: Bci::Any,
        }])
    };
    let mut tops = match (place.code, interpreted) {
        (Code::Interpreter, Interpreted::Whole(method)) => return Ok(vec![any(method)]),
        (Code::Interpreter, Interpreted::InPart(method)) if method != 0 => {
            return Ok(vec![any(method), none()]);
        }
        (Code::NativeWrapper, _) => {
            let native = native(place.piece, facts)?;
            if facts.moves_frames(native.method) {
                return Err(Unknown::Moving);
            }
            vec![certain(vec![native])]
        }
        (Code::Compiled, _)
            if !facts.is_in_stubs(place.piece, place.pc) || is_whole(place, calls, facts) =>
        {
            interrupted(place.piece, place.pc, facts)?
        }
        _ => return Ok(vec![none()]),
    };
    if !is_whole(place, calls, facts) {
        // The frame is being built, or was removed. The callee's method is entered all the same.
        let own = tops.iter().find_map(|top| top.lines.last().copied());
        tops.extend(own.map(|own| any(own.method)));
        tops.push(none());
    }
    Ok(tops)
}

/// Whether the whole frame of the code at `place` is on the stack, below the return address.
fn is_whole(place: &Place, calls: &[Call], facts: &impl Facts) -> bool {
    let slot = calls.last().map_or(0, |call| call.slot);
    facts
        .frame_words(place.piece)
        .is_some_and(|words| slot != 0 && place.sp <= slot.wrapping_sub((words - 1) * WORD))
}

/// The candidates for the frames of the compiled method `piece`, which is to run the instruction at `pc`.
///
/// Where a call has returned, the record at `pc` is that of the call. If the VM deoptimises the caller meanwhile, it goes
/// on in the record's innermost frame, behind the bytecode of the call: so the methods are certain, and the BCI is not.
/// A record of the instruction itself, as that of a loop's poll, is certain.
fn interrupted(piece: Piece, pc: usize, facts: &impl Facts) -> Result<Vec<Top>, Unknown> {
    let records = facts.records(piece, pc).ok_or(Unknown::Unreadable)?;
    let Some(mut exact) = records.exact.clone() else {
        return between_records(piece, pc, facts);
    };
    if records.is_of_call {
        exact[0].bci = Bci::Any;
    }
    // AsyncGetCallTrace does not use this record: `is_decipherable_compiled_frame` (share/prims/forte.cpp) looks for one
    // from the next address on, `pc_desc_near(fr->pc() + 1)`. So the next record is a neighbour as elsewhere.
    let behind = records.behind.clone().map(|lines| Top {
        lines,
        is_certain: false,
    });
    Ok([certain(exact)].into_iter().chain(behind).collect())
}

/// The candidates for the frames of the compiled method `piece` at `pc`.
fn between_records(piece: Piece, pc: usize, facts: &impl Facts) -> Result<Vec<Top>, Unknown> {
    let records = facts.records(piece, pc).ok_or(Unknown::Unreadable)?;
    let Records {
        exact,
        before,
        behind,
        ..
    } = (*records).clone();
    if let Some(exact) = exact {
        return Ok(vec![certain(exact)]);
    }
    let method = facts.method(piece).ok_or(Unknown::Unreadable)?;
    let start = || {
        Some(vec![Line {
            method,
            bci: Bci::At(0),
        }])
    };
    let before = before.or_else(start);
    let mut tops = Vec::new();
    if facts.is_at_beginning(piece, pc) {
        // This code is of the method itself, and of no method that is inlined.
        tops.extend(start().map(certain));
    }
    // Where both records have the same frames, so has the code between them, except that the innermost
    // frame moves. Before the first record is the start of the method.
    let same = before
        .as_ref()
        .zip(behind.as_ref())
        .filter(|(before, behind)| before.get(1..) == behind.get(1..))
        .filter(|(before, behind)| before[0].method == behind[0].method);
    if let Some((lines, _)) = same {
        let mut lines = lines.clone();
        lines[0].bci = Bci::Any;
        tops.push(certain(lines));
    }
    let uncertain = |lines| Top {
        lines,
        is_certain: false,
    };
    if facts.calls_nothing(method) {
        // Whatever the records say, no other method is inlined.
        let bci = Bci::NotGiven;
        tops.push(certain(vec![Line { method, bci }]));
    }
    tops.extend(
        [before, behind, start()]
            .into_iter()
            .flatten()
            .map(uncertain),
    );
    Ok(tops)
}

#[cfg(test)]
mod tests;
