//! Frames and stacks, from records to the model.

use crate::model::{Frame, Stacks};
use oracle::record::{Mismatch, ShownFrame};
use std::fmt::Write;

/// Both stacks of a mismatch with its evidence.
pub(super) fn stacks(mismatch: &Mismatch) -> Stacks {
    Stacks {
        title: mismatch.signature(),
        thread: mismatch.thread.clone(),
        walker: mismatch.walker.iter().map(frame).collect(),
        truth: mismatch.truth.iter().map(frame).collect(),
        differs: mismatch.at_frame,
        evidence: mismatch.evidence.texts().into_iter().collect(),
    }
}

fn frame(frame: &ShownFrame) -> Frame {
    let mut short = short(&frame.method).to_owned();
    let mut whole = frame.method.clone();
    if let Some(bci) = frame.bci {
        let _ = write!(short, " @{bci}");
        let _ = write!(whole, " @{bci}");
    }
    if let Some(line) = frame.line {
        let _ = write!(whole, " line {line}");
    }
    Frame { short, whole }
}

/// `Class.method` of `package.Class.method(descriptor)`.
pub(super) fn short(method: &str) -> &str {
    let name = method.split('(').next().unwrap_or(method);
    let dots: Vec<usize> = name.match_indices('.').map(|(at, _)| at).collect();
    match dots[..] {
        [.., class, _] => &name[class + 1..],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn packages_and_descriptors_are_left_out() {
        assert_eq!(short("java.util.List.add(Ljava/lang/Object;)Z"), "List.add");
        assert_eq!(short("A.b()V"), "A.b");
        assert_eq!(short("b"), "b");
        assert_eq!(short(""), "");
    }
}
