//! Turns frames and stacks of records into the model.

use crate::model::{Frame, Stacks};
use hotspot::runtime::method_without_address;
use oracle::record::{Mismatch, ShownFrame};
use std::borrow::Cow;
use std::fmt::Write;

/// Both stacks of a mismatch with its evidence.
pub(crate) fn stacks(mismatch: &Mismatch) -> Stacks {
    let shown = |frames: &[ShownFrame], name: fn(&str) -> Cow<str>| -> Vec<Frame> {
        frames.iter().map(|one| frame(one, name)).collect()
    };
    let [walker, truth] =
        [&mismatch.walker, &mismatch.truth].map(|all| shown(all, method_without_address));
    // Addresses stay only if they are the only difference between the two stacks.
    let differ = mismatch.walker != mismatch.truth;
    let [walker, truth] = if differ && walker == truth {
        [&mismatch.walker, &mismatch.truth].map(|all| shown(all, |name| name.into()))
    } else {
        [walker, truth]
    };
    Stacks {
        title: signature(mismatch),
        thread: mismatch.thread.clone(),
        walker,
        truth,
        differs: mismatch.at_frame,
        evidence: mismatch.evidence.texts().into_iter().collect(),
    }
}

/// The common texts of mismatches that most likely have the same cause.
pub(crate) fn signature(mismatch: &Mismatch) -> String {
    method_without_address(&mismatch.signature()).into_owned()
}

fn frame(frame: &ShownFrame, name: fn(&str) -> Cow<str>) -> Frame {
    let mut whole = name(&frame.method).into_owned();
    let mut short = short(&whole).to_owned();
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
    use super::{short, stacks};
    use oracle::record::{Mismatch, ShownFrame};

    #[test]
    fn addresses_stay_only_where_they_tell_the_stacks_apart() {
        let frame = |method: &str| ShownFrame {
            method: method.into(),
            bci: Some(3),
            ..ShownFrame::default()
        };
        let shown = |walker: &[&str], truth: &[&str]| {
            let [walker, truth] = [walker, truth].map(|all| all.iter().map(|m| frame(m)).collect());
            let sample = crate::sample::report().mismatches.swap_remove(0);
            let stacks = stacks(&Mismatch {
                walker,
                truth,
                ..sample
            });
            stacks.walker[0].short.clone()
        };
        assert_eq!(
            shown(&["a.MH.0x1f.invoke()V"], &["a.B.c()V"]),
            "MH.invoke @3"
        );
        assert_eq!(
            shown(&["a.MH.0x1f.invoke()V"], &["a.MH.0x20.invoke()V"]),
            "0x1f.invoke @3"
        );
    }

    #[test]
    fn packages_and_descriptors_are_left_out() {
        assert_eq!(short("java.util.List.add(Ljava/lang/Object;)Z"), "List.add");
        assert_eq!(short("A.b()V"), "A.b");
        assert_eq!(short("b"), "b");
        assert_eq!(short(""), "");
    }
}
