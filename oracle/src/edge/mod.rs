//! Call edges: whether one frame can lie on another, by the class files alone.
//!
//! In a stack each caller's BCI points at an instruction, and that instruction tells what it can
//! have called. [`World`] keeps what the class files say, [`Judge`] says of each frame and its
//! caller whether the edge is possible, impossible or unknown, with the reason. A stack of n
//! frames has n + 1 edges: the top frame and its instruction, each frame and its caller, and
//! the lowest frame and what started the thread.
//!
//! Rules: the JVMS for what instructions call, a [`Runtime`] for what the VM calls by itself.
//! An edge is impossible only if no class that may be missing, of another loader or made at run
//! time could make it possible. What this cannot see: calls that a debugger or another agent
//! makes where a thread happens to stand, and class files that are not those that ran.

mod class;
mod counts;
mod finding;
mod hierarchy;
mod judge;
mod memo;
mod names;
mod runtime;
mod select;
mod spread;
mod starts;
mod upcalls;
mod world;

pub use counts::Counts;
pub use finding::{Finding, Impossible, Possible, Unknown};
pub use judge::{EdgeFrame, Judge, ThreadStart};
pub use names::{MethodId, package};
pub use runtime::{Instruction, Kind, Occasions, Of, Runtime, Upcall};
pub use starts::Starts;
pub use world::World;
