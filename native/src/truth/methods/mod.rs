//! What the agent knows of methods: their hooks, their versions, and how to show them.

mod given;
pub mod hooked;
mod old_versions;
pub mod registry;
mod show;
mod sites;
mod versions;
