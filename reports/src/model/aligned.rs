//! Two stacks side by side, aligned by their common frames.

use super::{Frame, Tone};

/// Two stacks side by side, top frame first.
#[derive(Clone, Debug)]
pub struct Aligned {
    /// The rows.
    pub rows: Vec<AlignedRow>,
}

/// A row of two aligned stacks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AlignedRow {
    /// Frames of one or both stacks.
    Frames {
        /// The walker's frame, if it has one here.
        walker: Option<Frame>,
        /// The true frame, if there is one here.
        truth: Option<Frame>,
        /// What the row says.
        says: RowKind,
    },
    /// This many common frames are left out.
    Gap(usize),
}

/// What a row of two aligned stacks says.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum RowKind {
    /// Both stacks have the frame.
    Same,
    /// Both stacks have the method, at different instructions.
    OtherPlace,
    /// The walker's frame is not in the truth, and the judge says that it differs.
    Invented,
    /// The frame is on the stack, and the walker has no such frame.
    Missing,
    /// The truth has no word on this frame, for instance because native methods have no hooks.
    NoTruth,
}

impl RowKind {
    /// The row's meaning for the reader.
    pub fn note(self) -> &'static str {
        match self {
            RowKind::Same => "",
            RowKind::OtherPlace => "another instruction",
            RowKind::Invented => "not in the truth",
            RowKind::Missing => "missing in the answer",
            RowKind::NoTruth => "no truth for it",
        }
    }

    /// Whether the row is what is wrong.
    pub fn tone(self) -> Tone {
        match self {
            RowKind::Same | RowKind::NoTruth => Tone::Plain,
            RowKind::OtherPlace | RowKind::Invented | RowKind::Missing => Tone::Bad,
        }
    }
}
