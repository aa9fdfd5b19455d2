//! Fault injection: walkers that answer falsely on purpose, so that tests show whether every fault
//! is detected.
//!
//! * [`FaultKind`] and [`inject`]: the faults;
//! * [`Sight`]: what the truth of a layer says about a faulty walk before the judge is asked: which
//!   verdict is right, or why the fault cannot be seen;
//! * [`Detection`]: whether the judge gave this verdict;
//! * [`BiasedWalker`]: profilers that are biased on purpose.

mod biased;
mod detection;
mod expected;
mod fault;
mod inject;
mod mounted;
mod of_classes;
mod of_elements;
mod of_steps;
mod of_trace;
mod sight;
#[cfg(test)]
mod tests;

pub use biased::{Bias, Biased, BiasedWalker};
pub use detection::Detection;
pub use expected::{Expected, Unseen};
pub use fault::FaultKind;
pub use inject::{Material, Strangers, WalkerAnswer, inject};
pub use mounted::Boundary;
pub use sight::{Edges, Sight};
