//! Fault injection: walkers that answer falsely on purpose, so that tests can see every fault
//! detected.
//!
//! * [`FaultKind`] and [`inject`]: the faults;
//! * [`Sight`]: what the truth of a layer says of a faulty walk before the judge is asked: which
//!   verdict is right, or why nobody could see the fault;
//! * [`Detection`]: whether the judge's verdict is that one.

mod detection;
mod expected;
mod fault;
mod inject;
mod mounted;
mod of_classes;
mod of_trace;
mod sight;
#[cfg(test)]
mod tests;

pub use detection::Detection;
pub use expected::{Expected, Unseen};
pub use fault::FaultKind;
pub use inject::{Material, Strangers, WalkerAnswer, inject};
pub use mounted::Boundary;
pub use sight::{Edges, Sight};
