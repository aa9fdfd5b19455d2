//! Which methods get hooks.

mod patterns;
mod plan;

pub use patterns::{Pattern, Patterns};
pub use plan::{Choice, MethodInfo, Plan};
