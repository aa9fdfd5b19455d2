//! Where everything goes: what a method's code holds, and the positions of the rewritten code.

mod moves;
mod place;
mod scan;

pub(crate) use moves::Moves;
pub(crate) use place::{Lengths, Places};
pub(crate) use scan::{Branch, FRAME, HANDLER, RETURN, Scan, event};
