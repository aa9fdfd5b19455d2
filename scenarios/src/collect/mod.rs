//! From what a run leaves in its folder to a report: also after a crash, and once more later.

pub(crate) mod crash;
pub(crate) mod facts;
mod recollect;
pub(crate) mod records;

pub use recollect::recollect;
