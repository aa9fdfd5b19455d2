//! What a scenario says: programs, how to sample them, and what may go wrong.

mod check;
mod file;
pub mod known;
mod load;
mod model;

pub use load::BUILT_IN;
pub use model::{Matrix, Program, Sampling, Scenario, Start, Suite, SuiteKind};
