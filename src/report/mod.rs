//! Commands on reports that are there already: `gate`, `compare`, `merge` and `render`.

pub mod compare;
pub mod gate;
mod input;
pub mod merge;
pub mod render;
