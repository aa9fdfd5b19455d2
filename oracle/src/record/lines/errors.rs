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
    /// How often.
    pub count: u64,
}
