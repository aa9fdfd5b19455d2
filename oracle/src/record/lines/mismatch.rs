//! A mismatch with its evidence.

use super::evidence::Evidence;
use crate::{Layer, Verdict};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A frame, in the form of reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShownFrame {
    /// `package.Class.method(descriptor)`, or the walker's name for an unknown method.
    pub method: String,
    /// The original BCI; -3 in a native frame; absent where the location of the truth changes.
    pub bci: Option<i32>,
    /// The source line, where the class file has it.
    pub line: Option<u32>,
    /// The BCI in the rewritten code, where the method is hooked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewritten_bci: Option<i32>,
}

/// A truncated, wrong or imprecise stack, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mismatch {
    /// The layer that found it.
    pub layer: Layer,
    /// `truncated`, `wrong` or `imprecise`.
    pub verdict: Verdict,
    /// The reason, as a short phrase.
    pub reason: String,
    /// The thread, by its kernel id and its name, if the name is known.
    pub thread: String,
    /// The walker's answer, top frame first.
    pub walker: Vec<ShownFrame>,
    /// The truth, top frame first.
    pub truth: Vec<ShownFrame>,
    /// First differing frame, as an index into `walker`.
    pub at_frame: Option<usize>,
    /// The known cause, for walks of AsyncGetCallTrace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<CauseName>,
    /// Further evidence: program counter, code, state of the thread and so on.
    #[serde(default, skip_serializing_if = "Evidence::is_empty")]
    pub evidence: Evidence,
}

impl Mismatch {
    /// Whether this is a false stack in which a cause was looked for and none was proven.
    pub fn is_unexplained(&self) -> bool {
        let cause = self.cause.as_ref();
        self.verdict.is_mismatch() && cause.is_some_and(CauseName::is_unexplained)
    }

    /// Layer, verdict, reason and the method of the first differing frame. Mismatches with equal
    /// signatures most likely have the same cause.
    pub fn signature(&self) -> String {
        let method = self.first_differing();
        let method = method.map_or("an empty stack", |frame| &frame.method);
        format!(
            "{} {}: {} at {method}",
            self.layer,
            self.verdict.name(),
            self.reason
        )
    }

    /// The walk's first differing frame; the lowest frame if the walk ends too early.
    pub fn first_differing(&self) -> Option<&ShownFrame> {
        let at = self.at_frame.unwrap_or(0);
        self.walker.get(at).or(self.walker.last())
    }
}

/// The name of a cause in `report.json`. The crate that knows the JVM defines the causes.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CauseName(String);

impl CauseName {
    /// Whether this is [`CauseName::UNEXPLAINED`].
    pub fn is_unexplained(&self) -> bool {
        self.as_str() == CauseName::UNEXPLAINED
    }

    /// The cause of this name.
    pub fn new(name: impl Into<String>) -> CauseName {
        CauseName(name.into())
    }

    /// The name for mismatches whose cause was not looked for, because there was no time.
    pub const NOT_LOOKED_AT: &str = "not looked at";

    /// The name for mismatches whose cause was looked for, and not found.
    pub const UNEXPLAINED: &str = "unexplained";

    /// Whether a cause of this name explains a mismatch.
    pub fn explains(name: &str) -> bool {
        ![CauseName::NOT_LOOKED_AT, CauseName::UNEXPLAINED, ""].contains(&name)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CauseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
