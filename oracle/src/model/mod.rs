//! The types that all parts share: layers, and the elements of stacks.

mod elements;
mod layer;
mod steps;
#[cfg(test)]
pub(crate) mod toy;
pub mod trace;

pub use elements::Element;
pub use layer::{LAYERS, Layer, LayerRow, ProgramKind, RecordedSampler, TruthKind, When};
pub use steps::{StepFrame, StepTop, StepTruth};
