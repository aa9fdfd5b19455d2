//! What runs write down: the runner's configuration for the agent, the agent's records and counts,
//! and `report.json`.

pub mod budget;
mod config;
pub mod cost;
mod edges;
mod errors;
mod evidence;
mod faults;
mod hooking;
mod line;
mod mismatch;
pub mod pace;
pub mod profile;
pub mod report;
mod rewriting;
pub mod tally;

pub use config::{CLAIM_FILE, Config, RECORDS_FILE, SLOTS_FILE};
pub use edges::{EdgeCounts, FoundEdges};
pub use errors::ErrorCount;
pub use evidence::{Address, CodeBytes, Evidence, StackWord};
pub use faults::{FaultCount, Faults, Sabotage};
pub use hooking::Hooking;
pub use line::{Record, Started};
pub use mismatch::{CauseName, Mismatch, ShownFrame};
pub use rewriting::Rewriting;
