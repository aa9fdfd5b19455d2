//! A mismatch with its evidence.

use super::evidence::Evidence;
use crate::{Layer, Verdict};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One frame, as reports show it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShownFrame {
    /// `package.Class.method(descriptor)`, or how the walker named it where unknown.
    pub method: String,
    /// The original BCI; -3 in a native frame; absent where the truth moves.
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
    /// What was found, as a short phrase.
    pub reason: String,
    /// The thread, by its kernel id and, where known, its name.
    pub thread: String,
    /// What the walker returned, top frame first.
    pub walker: Vec<ShownFrame>,
    /// What was true, top frame first.
    pub truth: Vec<ShownFrame>,
    /// First differing frame, as an index into `walker`.
    pub at_frame: Option<usize>,
    /// The known cause that it points to, for walks of AsyncGetCallTrace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<CauseName>,
    /// Further evidence: program counter, code, state of the thread and so on.
    #[serde(default, skip_serializing_if = "Evidence::is_empty")]
    pub evidence: Evidence,
}

impl Mismatch {
    /// Layer, verdict, reason and the method of the first differing frame: equal for
    /// mismatches that have most likely the same cause.
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

    /// The walk's first differing frame; the lowest frame where the walk ends too early.
    pub fn first_differing(&self) -> Option<&ShownFrame> {
        let at = self.at_frame.unwrap_or(0);
        self.walker.get(at).or(self.walker.last())
    }
}

/// The name of a cause, as `report.json` has it. What a cause is, the crate that knows the JVM says.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CauseName(String);

impl CauseName {
    /// The cause of this name.
    pub fn new(name: impl Into<String>) -> CauseName {
        CauseName(name.into())
    }

    /// The name of a cause that there was no time to look for.
    pub const NOT_LOOKED_AT: &str = "not looked at";

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
