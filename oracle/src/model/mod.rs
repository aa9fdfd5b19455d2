//! The types that all parts share: layers, and the elements of stacks.

mod layer;
#[cfg(test)]
pub(crate) mod toy;
pub mod trace;

pub use layer::{JvmSampler, LAYERS, Layer, LayerRow, ProgramKind, TruthKind, When};
