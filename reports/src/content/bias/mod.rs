//! Which methods a walker counts too often or too rarely.

mod methods;
mod profilers;
mod rows;
mod sections;
mod stacks;

pub(super) use sections::sections;
