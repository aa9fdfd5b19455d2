//! The records that an agent writes while a program runs: each is a line of JSON.

mod edges;
mod errors;
mod evidence;
mod instants;
mod kept;
mod kinds;
mod line;
mod lost;
mod mismatch;
pub mod pace;
pub mod profile;
mod rewriting;
mod steps;

pub use edges::{EdgeCounts, FoundEdges};
pub use errors::ErrorCount;
pub use evidence::{Address, CodeBytes, Evidence, StackWord};
pub use instants::{InstantCount, MismatchCount};
pub use kept::Kept;
pub use kinds::KindCount;
pub use line::{Record, Started};
pub use lost::Lost;
pub use mismatch::{CauseName, Mismatch, ShownFrame};
pub use rewriting::{MOST_KEPT_IDS, Rewriting};
pub use steps::{Coverage, InstructionCounts, StepCounts, VISITED_FILE, VisitedCode, Worst};
