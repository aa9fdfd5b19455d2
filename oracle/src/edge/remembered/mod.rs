//! The judge's memory of edges that it has judged.

mod memo;
mod spread;

pub(super) use memo::Memo;
pub use spread::Spread;
