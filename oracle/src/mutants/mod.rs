//! Fault injection: walkers that answer falsely on purpose, so that tests show whether every fault
//! is detected.
//!
//! * [`FaultKind`], [`inject`] and, for parts of stacks, [`inject_slice`]: the faults;
//! * [`expected`]: the end that a fault must have, as the truth of its layer says before the judge is asked: which
//!   verdict is right, or why the fault cannot be seen;
//! * [`Detection`]: whether the judge gave this verdict;
//! * [`BiasedWalker`]: profilers that are biased on purpose.

mod biased;
mod detection;
mod fault;
mod inject;
mod slice;
#[cfg(test)]
mod tests;

pub use biased::{Bias, Biased, BiasedWalker};
pub use detection::{Detection, expected};
pub use fault::FaultKind;
pub use inject::{Material, Strangers, WalkerAnswer, inject};
pub use slice::inject_slice;
