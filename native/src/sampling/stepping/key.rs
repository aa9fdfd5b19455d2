//! Numbers for pairs of a stack and an answer: pairs with equal numbers have equal judgements.

use super::callers::hash_of;
use crate::walkers::buffer::ErrorCode;
use hotspot::steps::shadow::{Call, Interpreted, mixed};
use hotspot::steps::{Code, Place};
use oracle::trace::Frame;

/// A number for the thread at `place` with these `calls`, and for what the walker has answered. The places of frames
/// on the stack do not count, except that of the newest return address. If the answer ends with `of_calls` true frames
/// of all calls, neither they nor the calls count. Async-signal-safe.
pub fn key(
    place: &Place,
    interpreted: Interpreted,
    answer: Result<&[Frame], ErrorCode>,
    calls: &[Call],
    of_calls: Option<usize>,
) -> u64 {
    let newest = calls.last().copied().unwrap_or_default();
    let depth = match (newest.slot, place.code) {
        (0, _) => usize::MAX,
        (_, Code::Interpreter) => usize::from(newest.fp == place.fp),
        (slot, _) => slot.wrapping_sub(place.sp),
    };
    let (stage, method) = match interpreted {
        Interpreted::No => (0, 0),
        Interpreted::InPart(method) => (1, method),
        Interpreted::Whole(method) => (2, method),
    };
    let code = match answer {
        Ok(_) => 1,
        Err(code) => code.0 as usize,
    };
    let (below, frames) = match (answer, of_calls) {
        (Ok(frames), Some(count)) => match (&frames[..frames.len() - count], interpreted) {
            // The BCI of an interpreted top frame is not compared.
            ([top], Interpreted::Whole(_)) => (top.method.0 as u64, &[][..]),
            (above, _) => (newest.code as u64, above),
        },
        (Ok(frames), None) => (newest.hash, frames),
        // An error is an error with any callers.
        (Err(_), _) => (newest.code as u64, &[][..]),
    };
    let id = place.piece.id as usize;
    let words = [place.pc, depth, stage, method, code, id];
    let hash = words
        .iter()
        .fold(below, |hash, &word| mixed(hash, word as u64));
    mixed(hash, hash_of(frames)) | 1
}
