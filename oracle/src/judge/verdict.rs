use super::{Reason, Strength};
use serde::{Deserialize, Serialize};

/// The outcome of one check in one layer.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Agrees frame by frame, as far as the layer's truth reaches.
    Match,
    /// Differs by a frame that the sampled BCI proves to be between its creation and its
    /// push, or between its pop and its removal, and no other truth shows that the frame is there.
    Window,
    /// The physical frames are right, but the inlined frames are those of a neighbouring debug info
    /// record, because compiled code has no record of its own at the program counter.
    Imprecise,
    /// The walker returned this error code instead of a stack.
    Error(i32),
    /// A correct top, but the bottom is missing.
    Truncated,
    /// A false stack: a frame too many, too few, in the wrong order or at the wrong BCI.
    Wrong,
    /// There was no truth to compare with.
    Unverifiable,
}

/// A verdict, with the frame and the reason.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Judgement {
    /// The outcome.
    pub verdict: Verdict,
    /// The first differing frame, as an index into the walk (0 is its top frame); the walk's length
    /// if a frame below its bottom is missing.
    pub at_frame: Option<usize>,
    /// Why the check got the verdict.
    pub reason: Reason,
    /// How much was compared; 0 unless the verdict is [`Verdict::Match`].
    pub strength: Strength,
}

impl Verdict {
    /// Whether this is a mismatch: `truncated` or `wrong`.
    pub fn is_mismatch(self) -> bool {
        matches!(self, Verdict::Truncated | Verdict::Wrong)
    }

    /// The verdict's name in recorded samples. The name of [`Verdict::Error`] is without the code.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Match => "match",
            Verdict::Window => "window",
            Verdict::Imprecise => "imprecise",
            Verdict::Error(_) => "error",
            Verdict::Truncated => "truncated",
            Verdict::Wrong => "wrong",
            Verdict::Unverifiable => "unverifiable",
        }
    }
}

impl Judgement {
    /// A match with its strength.
    pub const fn matching(reason: Reason, strength: Strength) -> Judgement {
        Judgement {
            strength,
            ..Judgement::plain(Verdict::Match, reason)
        }
    }

    /// A judgement without a frame.
    pub const fn plain(verdict: Verdict, reason: Reason) -> Judgement {
        Judgement {
            verdict,
            at_frame: None,
            reason,
            strength: Strength {
                frames: 0,
                by_method: 0,
                by_bci: 0,
            },
        }
    }

    /// A judgement on the walk's frame `at_frame`.
    pub const fn at(verdict: Verdict, at_frame: usize, reason: Reason) -> Judgement {
        Judgement {
            at_frame: Some(at_frame),
            ..Judgement::plain(verdict, reason)
        }
    }

    /// The judgement on a part of a walk that starts at its frame `start`, as one on the whole walk.
    pub fn below(self, start: usize) -> Judgement {
        Judgement {
            at_frame: self.at_frame.map(|at| at + start),
            ..self
        }
    }

    /// A walk without a mismatch whose walker says that it does not know the top: inlined frames may be missing. Such
    /// a walk claims less than a whole stack.
    pub const FLAGGED: Judgement = Judgement::at(Verdict::Unverifiable, 0, Reason::Unrecorded);

    /// Whether this is [`Judgement::FLAGGED`].
    pub fn is_flagged(&self) -> bool {
        *self == Judgement::FLAGGED
    }

    /// Whether this is a mismatch: `truncated` or `wrong`.
    pub fn is_mismatch(&self) -> bool {
        self.verdict.is_mismatch()
    }

    /// Whether the walk differs from the thread's stack: a mismatch, or `imprecise`. Evidence is
    /// kept for both.
    pub fn differs(&self) -> bool {
        self.is_mismatch() || self.verdict == Verdict::Imprecise
    }
}
