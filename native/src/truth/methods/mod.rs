//! The agent's knowledge of methods: their hooks, their versions, and their names in reports.

mod called_by_vm;
pub mod hooked;
pub mod kept_ids;
mod key_origins;
mod made_up;
pub mod old_frames;
mod old_versions;
pub mod registry;
pub mod show;
mod sites;
mod versions;
