//! The caller of interrupted code, found by the code itself.
//!
//! * `machine`: runs instructions on registers that are only partly known;
//! * [`exit`]: simulates the code up to its return;
//! * [`settled`]: simulates the code up to a place where its frame is as the tables say.

pub mod exit;
mod machine;
pub mod settled;
