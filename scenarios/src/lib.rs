//! What to run and how: scenarios, and the runner that starts, watches and collects JVMs.
//!
//! * [`scenario`]: what a scenario file says;
//! * [`jdk`] and [`library`]: finding what a run needs;
//! * [`plan`]: from scenarios to single JVMs, and the shards of many machines;
//! * [`session`]: the whole job: program after program, and a report after each;
//! * [`known`]: files of known issues;
//! * [`interrupt`]: Ctrl-C ends the targets, not the report;
//! * [`store`]: reports on disk, never half written.
//!
//! Every wait has a deadline, and what a target counted before it crashed, hung or was
//! interrupted still counts.

mod baseline;
mod collect;
mod crash;
mod error;
mod facts;
mod hang;
pub mod interrupt;
pub mod jdk;
pub mod known;
mod launch;
pub mod library;
pub mod plan;
mod process;
pub mod scenario;
pub mod session;
pub mod store;
mod suite;
mod watch;

pub use crash::Crash;
pub use error::Error;
pub use plan::Plan;
pub use scenario::Scenario;
pub use session::{Event, Session};

/// A seed for those who name none; short, so that it is easily given again.
pub fn random_seed() -> u64 {
    u64::from(rand::random::<u32>())
}

/// Line and column, from 1, of a byte in `text`.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at.min(text.len()))];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (
        before.matches('\n').count() + 1,
        before[line_start..].chars().count() + 1,
    )
}
