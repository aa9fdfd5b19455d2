//! From the files of a run to a report, also after a crash.

pub(crate) mod crash;
pub(crate) mod facts;
mod recollect;
pub(crate) mod records;
pub(crate) mod request;
mod unreported;

pub use recollect::recollect;
pub use unreported::unreported;
