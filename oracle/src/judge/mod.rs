//! The comparisons of the layers.
//!
//! Walks are slices with the top frame first, as the walkers return them.

pub(crate) mod leaving;
mod mounted;
mod moving;
mod moving_edges;
mod outer;
mod same_instant;
mod truth;

pub use mounted::{judge_mounted, judge_mounted_at_safepoint};
pub use moving::judge_moving;
pub use moving_edges::{Edged, judge_moving_edges};
pub use outer::agrees_outside;
pub use same_instant::judge_same_instant;
pub use truth::judge_truth;
