//! Call edges: whether one frame can lie on another, by the class files alone.
//!
//! The BCI of a caller points at an instruction, and the instruction says which methods it can call.
//! [`World`] keeps what the class files say. [`Judge`] says of each frame and its caller whether the
//! edge is possible, impossible or unknown, with the reason. A stack of n frames has n + 1 edges: the
//! top frame and its instruction, each frame and its caller, and the lowest frame and what started the
//! thread.
//!
//! The rules are the JVMS for what instructions call, and a [`Runtime`] for what the VM calls by
//! itself. An edge is impossible only if no unknown class could make the edge possible: a class that is
//! missing, of another loader, or generated at run time. The judge does not see calls that a debugger
//! or another agent makes where a thread happens to stand, and it takes the class files for those that
//! ran.

mod class;
mod counts;
mod finding;
mod hierarchy;
mod judge;
mod loose;
mod names;
mod remembered;
mod runtime;
mod select;
mod starts;
mod upcalls;
mod world;

pub use counts::Counts;
pub use finding::{Finding, Impossible, Possible, Unknown};
pub use judge::{EdgeFrame, Judge, ThreadStart};
pub use names::{MethodId, package};
pub use runtime::{Instruction, Intrinsic, Kind, Occasions, Of, Runtime, Upcall};
pub use starts::Starts;
pub use world::World;
