//! Running a plan: one JVM after another, each watched until its end.

mod baseline;
pub mod check;
mod hang;
pub(crate) mod launch;
pub(crate) mod origin;
pub mod reduce;
pub mod session;
mod starved;
mod watch;
