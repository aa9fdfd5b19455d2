//! The layout of the rewritten code: a scan of the method's code, and the new positions.

mod moves;
mod place;
mod scan;

pub(crate) use moves::Moves;
pub(crate) use place::{Lengths, Places};
pub(crate) use scan::{Branch, FRAME, HANDLER, RETURN, Scan, event};
