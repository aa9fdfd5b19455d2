//! What to run and how: scenarios, and the runner that starts, watches and collects JVMs.
//!
//! * [`scenario`]: what a scenario file says;
//! * [`jdk`] and [`library`]: finding what a run needs;
//! * [`session`]: the whole job: program after program, and a report after each;
//! * [`interrupt`]: Ctrl-C ends the targets, not the report;
//! * [`store`]: reports on disk, never half written.
//!
//! Every wait has a deadline, and what a target counted before it crashed, hung or was
//! interrupted still counts.

mod collect;
mod error;
pub mod interrupt;
pub mod jdk;
mod launch;
pub mod library;
pub mod scenario;
pub mod session;
pub mod store;
mod watch;

pub use error::Error;
pub use session::{Event, Session};

/// A seed for those who name none; short, so that it is easily given again.
pub fn random_seed() -> u64 {
    u64::from(rand::random::<u32>())
}
