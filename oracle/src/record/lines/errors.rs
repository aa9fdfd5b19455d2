//! Counts of walkers' errors.

use crate::Layer;
use serde::{Deserialize, Serialize};

/// How often the walker returned one error in one kind of code.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// The layer.
    pub layer: Layer,
    /// The walker's code.
    pub code: i32,
    /// The VM's name for the thread's state.
    pub state: String,
    /// The kind of code that ran: `nmethod tier 4`, the name of a stub or of a library's file.
    pub place: String,
    /// Whether the walk begins with an intact frame: the code was neither in its prologue nor at its
    /// return, or the thread's anchor led to a Java frame. The walker refused a stack that can be walked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub intact: bool,
    /// How often.
    pub count: u64,
}

impl ErrorCount {
    /// Stands behind a kind of code whose frame stood.
    pub const INTACT: &str = ", with an intact frame";

    /// The kind of code that ran, and whether its frame stood.
    pub fn kind(&self) -> String {
        let frame = if self.intact { ErrorCount::INTACT } else { "" };
        format!("{}{frame}", self.place)
    }
}
