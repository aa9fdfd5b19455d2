//! Scenarios: programs, how to sample them, and how many mismatches are allowed.

mod check;
mod file;
mod join;
pub mod known;
mod load;
mod model;
mod of_run;
mod of_user;
mod profiler;
mod sampling;
mod turn;
mod variation;
pub mod walker;

pub use load::BUILT_IN;
pub(crate) use model::measured;
pub use model::{Matrix, Program, Scenario, Start, Suite, SuiteKind};
pub use of_run::all_fixtures;
pub use profiler::Profiler;
pub use turn::turn_length;
pub use variation::Variation;
