//! The files of a run: the runner's configuration for the agent, the agent's records and counts,
//! and `report.json`.

pub mod altered;
pub mod budget;
mod class_data;
mod config;
pub mod cost;
mod faults;
mod flaw;
mod hooking;
mod joined;
mod lines;
mod origin;
pub mod report;
mod statement;
pub mod tally;
#[cfg(test)]
pub(crate) mod toy;
mod vm_flag;
mod walker_function;

pub use class_data::ClassData;
pub use config::{CLAIM_FILE, Config, RECORDS_FILE, SLOTS_FILE, Sampling};
pub use faults::{FaultCount, Faults, HookFault};
pub use flaw::flaw;
pub use hooking::Hooking;
pub use joined::{CodeCounts, JoinCounts};
pub use lines::{
    Address, CauseName, CodeBytes, Coverage, EdgeCounts, ErrorCount, Evidence, FoundEdges,
    InstantCount, InstructionCounts, Kept, KindCount, Lost, MOST_KEPT_IDS, Mismatch, MismatchCount,
    Record, Rewriting, ShownFrame, StackWord, Started, StepCounts, VISITED_FILE, VisitedCode,
    Worst,
};
pub use lines::{pace, profile};
pub use origin::Origin;
pub use statement::{Statement, StatementBudget};
pub use vm_flag::{FLAGS_FILE, FlagOrigin, VmFlag};
pub use walker_function::{Signature, WalkerFunction};
