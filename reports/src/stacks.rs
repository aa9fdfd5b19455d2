//! Both stacks of a mismatch, as text.

use oracle::record::{Mismatch, ShownFrame};
use std::fmt::Write;

/// How many frames are shown at the top, and around the first difference.
const CONTEXT: usize = 8;

/// A frame on one line: method, BCI, line.
pub(crate) fn frame(frame: &ShownFrame) -> String {
    let mut text = frame.method.clone();
    if let Some(bci) = frame.bci {
        let _ = write!(text, " @{bci}");
    }
    if let Some(line) = frame.line {
        let _ = write!(text, " line {line}");
    }
    text
}

/// The part of both stacks around the first difference, which is marked.
pub(crate) fn side_by_side(mismatch: &Mismatch) -> String {
    let mut out = format!("{} on thread {}\n", mismatch.signature(), mismatch.thread);
    for (name, frames) in [("walker", &mismatch.walker), ("truth", &mismatch.truth)] {
        let _ = writeln!(out, "{name} ({} frames):", frames.len());
        let at = mismatch.at_frame.unwrap_or(0);
        let first = at.saturating_sub(CONTEXT / 2);
        for (i, shown) in frames.iter().enumerate().skip(first).take(CONTEXT) {
            let mark = if Some(i) == mismatch.at_frame {
                ">"
            } else {
                " "
            };
            let _ = writeln!(out, "{mark} {i:>3} {}", frame(shown));
        }
    }
    out
}
