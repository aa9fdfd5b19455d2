//! Call edges: whether a frame can be above another frame, by the class files alone.
//!
//! The BCI of a caller points at an instruction, and the instruction says which methods it can
//! call. [`World`] keeps the contents of the class files. [`Judge`] says for each frame and its
//! caller whether the edge is possible, impossible or unknown, with the reason. A stack of n frames
//! has n + 1 edges: the top frame and its instruction, each frame and its caller, and the lowest
//! frame and the start of the thread.
//!
//! The rules are the JVMS for what instructions call, and a [`Runtime`] for what the VM calls by
//! itself. An edge is impossible only if no unknown class could make the edge possible: a class
//! that is missing, of another loader, or generated at run time. The judge does not know calls that
//! a debugger or another agent makes at any instruction of a thread, and assumes that the class
//! files are those that ran.

mod class;
mod counts;
mod finding;
mod hierarchy;
mod judge;
mod loose;
mod memo;
mod names;
mod runtime;
mod select;
mod starts;
mod upcalls;
mod world;

pub use counts::Counts;
pub use finding::{Finding, Impossible, Possible, Unknown};
pub use judge::{EdgeFrame, Judge, ThreadStart};
pub use names::{MethodId, package};
pub use runtime::{ClassKind, Instruction, Intrinsic, Occasions, Of, Runtime, Upcall};
pub use starts::Starts;
pub use world::World;
