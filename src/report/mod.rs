//! Commands on existing reports: `gate`, `baseline`, `compare`, `merge` and `render`.

pub mod baseline;
pub mod compare;
pub mod gate;
pub mod input;
pub mod merge;
pub mod render;
