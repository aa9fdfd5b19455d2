//! The words that all parts share: layers, verdicts, and what stacks consist of.

mod layer;
pub mod trace;
mod verdict;

pub use layer::Layer;
pub use verdict::{Judgement, Verdict};
