//! Which methods a walker counts too often or too rarely.

mod methods;
mod profilers;
mod rows;
mod sections;
mod stacks;

pub(super) use rows::{Row, of_run};
pub(super) use sections::sections;
pub(super) use stacks::flames;
