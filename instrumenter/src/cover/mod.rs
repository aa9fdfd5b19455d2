//! The catch-alls behind a method's code: which code they cover. A catch-all pops the method's
//! entry if an exception leaves the method.

mod catch_alls;
mod constructor;
mod covered;
mod ranges;

pub(crate) use catch_alls::CatchAlls;
pub(crate) use constructor::Scratch;
pub(crate) use covered::Covered;
pub(crate) use ranges::Coverage;
