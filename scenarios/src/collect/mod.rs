//! From what a run leaves in its folder to a report: also after a crash, and once more later.

pub(crate) mod asked;
pub(crate) mod crash;
pub(crate) mod facts;
mod recollect;
pub(crate) mod records;
mod unreported;

pub use recollect::recollect;
pub use unreported::unreported;
