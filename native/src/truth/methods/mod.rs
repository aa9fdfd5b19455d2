//! The agent's knowledge of methods: their hooks, their versions, and their names in reports.

mod given;
pub mod hooked;
mod old_versions;
pub mod registry;
mod show;
mod sites;
mod versions;
