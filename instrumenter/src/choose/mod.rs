//! Which methods get hooks.

mod leaf;
mod patterns;
mod plan;

pub(crate) use leaf::is_leaf;
pub use patterns::{Pattern, Patterns};
pub use plan::{Choice, MethodInfo, Plan};
