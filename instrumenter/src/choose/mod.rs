//! Which methods get hooks.

mod patterns;
mod plan;
mod short;

pub use patterns::{Pattern, Patterns};
pub use plan::{Choice, MethodInfo, Plan};
pub(crate) use short::is_short;
