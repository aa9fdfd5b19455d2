//! The words that all parts share: layers, and what stacks consist of.

mod layer;
pub mod trace;

pub use layer::{LAYERS, Layer, LayerRow, ProgramKind, TruthKind, When};
