//! Aligns the walker's stack with the true one by their common frames, so that one missing frame does not make every
//! row differ.

use super::{Aligned, AlignedRow, Frame, RowKind, Stacks};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Number of common frames that are kept on each side of a difference.
const AROUND: usize = 3;

/// Largest number of rows without a partner that are shown in a row: the first and the last half of them.
const LONGEST: usize = 12;

impl Aligned {
    /// Both stacks of a mismatch, aligned.
    pub fn of(stacks: &Stacks) -> Aligned {
        aligned(stacks)
    }
}

fn aligned(stacks: &Stacks) -> Aligned {
    // From the bottom: callers are what two stacks of one thread share.
    let walker = reversed(&stacks.walker);
    let truth = reversed(&stacks.truth);
    let names = |frames: &[&Frame]| -> Vec<String> { frames.iter().map(|f| method(f)).collect() };
    let ops = capture_diff_slices(Algorithm::Myers, &names(&walker), &names(&truth));
    let mut rows = vec![];
    // The first frame that differs, counted from the bottom of the walker's stack.
    let differs = stacks
        .differs
        .and_then(|at| walker.len().checked_sub(at + 1));
    for op in ops {
        match op {
            DiffOp::Equal {
                old_index,
                new_index,
                len,
            } => rows.extend((0..len).map(|i| same(walker[old_index + i], truth[new_index + i]))),
            DiffOp::Delete {
                old_index, old_len, ..
            } => rows.extend(of_walker(&walker, old_index, old_len, differs)),
            DiffOp::Insert {
                new_index, new_len, ..
            } => rows.extend(of_truth(&truth, new_index, new_len)),
            DiffOp::Replace {
                old_index,
                old_len,
                new_index,
                new_len,
            } => {
                rows.extend(of_truth(&truth, new_index, new_len));
                rows.extend(of_walker(&walker, old_index, old_len, differs));
            }
        }
    }
    rows.reverse();
    Aligned { rows: cut(rows) }
}

fn reversed(frames: &[Frame]) -> Vec<&Frame> {
    frames.iter().rev().collect()
}

/// The method of a frame, without its place.
fn method(frame: &Frame) -> String {
    let whole = frame.whole.split(" @").next().unwrap_or_default();
    whole.split(" line ").next().unwrap_or_default().to_owned()
}

/// The BCI of a frame, if it has one.
fn bci(frame: &Frame) -> Option<&str> {
    frame.short.split(" @").nth(1)
}

fn same(walker: &Frame, truth: &Frame) -> AlignedRow {
    let elsewhere = bci(walker)
        .zip(bci(truth))
        .is_some_and(|(one, other)| one != other);
    AlignedRow::Frames {
        walker: Some(walker.clone()),
        truth: Some(truth.clone()),
        says: if elsewhere {
            RowKind::OtherPlace
        } else {
            RowKind::Same
        },
    }
}

/// Frames of the walker alone. Where the judge names the first frame that differs, the others may only lack a truth.
fn of_walker(
    walker: &[&Frame],
    from: usize,
    len: usize,
    differs: Option<usize>,
) -> Vec<AlignedRow> {
    let holds = differs.is_none_or(|at| (from..from + len).contains(&at));
    let rows = walker[from..from + len].iter().enumerate();
    let rows = rows.map(|(i, &frame)| AlignedRow::Frames {
        walker: Some(frame.clone()),
        truth: None,
        // The judge compares from the top and stops at the first difference: what lies below it in one piece
        // without a partner belongs to it.
        says: if holds && differs.is_none_or(|at| from + i <= at) {
            RowKind::Invented
        } else {
            RowKind::NoTruth
        },
    });
    rows.collect()
}

fn of_truth(truth: &[&Frame], from: usize, len: usize) -> Vec<AlignedRow> {
    let rows = truth[from..from + len].iter();
    let rows = rows.map(|&frame| AlignedRow::Frames {
        walker: None,
        truth: Some(frame.clone()),
        says: RowKind::Missing,
    });
    rows.collect()
}

/// Leaves out common frames far from any difference, and the middle of long pieces without a partner.
fn cut(rows: Vec<AlignedRow>) -> Vec<AlignedRow> {
    let kinds: Vec<RowKind> = rows.iter().map(kind).collect();
    let is_kept = |at: usize| {
        let near = at.saturating_sub(AROUND)..(at + AROUND + 1).min(kinds.len());
        if kinds[at] == RowKind::Same {
            return kinds[near].iter().any(|&kind| kind != RowKind::Same);
        }
        let first = kinds[..at].iter().rev().take_while(|&&k| k == kinds[at]);
        let last = kinds[at..].iter().take_while(|&&k| k == kinds[at]);
        first.count() < LONGEST / 2 || last.count() <= LONGEST / 2
    };
    let kept: Vec<bool> = (0..rows.len()).map(is_kept).collect();
    let mut out = vec![];
    let mut gap = 0;
    for (row, kept) in rows.into_iter().zip(kept) {
        if !kept {
            gap += 1;
            continue;
        }
        if gap > 0 {
            out.push(AlignedRow::Gap(gap));
            gap = 0;
        }
        out.push(row);
    }
    if gap > 0 {
        out.push(AlignedRow::Gap(gap));
    }
    out
}

fn kind(row: &AlignedRow) -> RowKind {
    match row {
        AlignedRow::Frames { says, .. } => *says,
        AlignedRow::Gap(_) => RowKind::Same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(names: &[&str]) -> Vec<Frame> {
        let frames = names.iter().map(|name| Frame {
            short: (*name).into(),
            whole: (*name).into(),
        });
        frames.collect()
    }

    fn told(walker: &[&str], truth: &[&str], differs: Option<usize>) -> Vec<String> {
        let stacks = Stacks {
            title: String::new(),
            thread: String::new(),
            walker: frames(walker),
            truth: frames(truth),
            differs,
            evidence: vec![],
        };
        let rows = aligned(&stacks).rows.into_iter();
        let name = |frame: Option<Frame>| frame.map_or("-".into(), |frame| frame.short);
        rows.map(|row| match row {
            AlignedRow::Frames {
                walker,
                truth,
                says,
            } => format!("{} {} {says:?}", name(walker), name(truth)),
            AlignedRow::Gap(n) => format!("gap {n}"),
        })
        .collect()
    }

    #[test]
    fn a_missing_frame_does_not_make_every_row_differ() {
        let told = told(&["b", "c", "d"], &["a", "b", "c", "d"], Some(0));
        assert_eq!(told, ["- a Missing", "b b Same", "c c Same", "d d Same"]);
    }

    #[test]
    fn only_the_frame_that_differs_is_called_invented() {
        // `n` is a native method without a hook.
        let told = told(&["x", "b", "n", "c"], &["b", "c"], Some(0));
        assert_eq!(
            told,
            ["x - Invented", "b b Same", "n - NoTruth", "c c Same"]
        );
    }

    #[test]
    fn another_instruction_of_the_same_method_is_told_apart() {
        let told = told(&["a @1", "b @5"], &["a @2", "b"], None);
        assert_eq!(told, ["a @1 a @2 OtherPlace", "b @5 b Same"]);
    }

    #[test]
    fn common_frames_far_from_a_difference_are_left_out() {
        let deep: Vec<String> = (0..40).map(|n| format!("m{n}")).collect();
        let truth: Vec<&str> = deep.iter().map(String::as_str).collect();
        let told = told(&truth[1..], &truth, Some(0));
        assert_eq!(told[0], "- m0 Missing");
        assert_eq!(told[4..], ["gap 36"]);
        let cut = super::tests::told(&truth[..2], &truth, Some(2));
        assert_eq!(cut.len(), LONGEST + 3, "{cut:?}");
        assert!(cut.contains(&"gap 26".to_owned()), "{cut:?}");
    }

    #[test]
    fn empty_stacks_have_no_rows() {
        assert!(told(&[], &[], Some(0)).is_empty());
        assert_eq!(told(&[], &["a"], Some(0)), ["- a Missing"]);
    }
}
