//! The judges: each compares walks with one truth.
//!
//! Walks are slices with the top frame first, as the walkers return them.

mod also_classes;
mod classes;
mod elements;
mod here;
pub(crate) mod leaving;
mod mounted;
mod next;
mod next_and_classes;
mod outer;
mod reason;
mod sites;
mod steps;
mod strength;
mod trace;
mod verdict;

pub use also_classes::judge_with_classes;
pub use classes::judge_edges;
pub use elements::{Element, judge_elements};
pub use here::judge_same_instant;
pub use mounted::{JudgesCarrier, judge_mounted, judge_mounted_at_safepoint};
pub use next::judge_moving;
pub use next_and_classes::{Edged, judge_moving_edges};
pub use outer::agrees_outside;
pub use reason::Reason;
pub use steps::{StepFrame, StepTop, StepTruth, judge_steps};
pub use strength::{Compared, Strength};
pub use trace::{Versions, compared_by_truth, judge_truth, old_frames};
pub use verdict::{Judgement, Verdict};
