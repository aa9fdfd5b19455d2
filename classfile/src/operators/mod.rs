//! The operators of the JVM (JVMS 6.5).
//!
//! One table has a row for each operator, and an [`Opcode`] answers from the table. Lengths,
//! effects on the stack, calls, branches, and what may throw derive from this table alone.

mod effect;
mod flow;
mod format;
mod opcode;
mod table;

pub use effect::{Call, Effect, ValueKind};
pub use flow::Flow;
pub use format::Format;
pub use table::Opcode;
