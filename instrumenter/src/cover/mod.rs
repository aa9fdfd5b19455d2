//! The catch-alls behind a method's code, which pop its entry where an exception leaves it, and
//! which code they cover.

mod catch_alls;
mod constructor;
mod covered;
mod ranges;

pub(crate) use catch_alls::CatchAlls;
pub(crate) use constructor::Scratch;
pub(crate) use covered::Covered;
pub(crate) use ranges::Coverage;
