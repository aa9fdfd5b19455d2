//! Linux on x86-64.

mod call_stub;
mod unwind_tables;

pub use call_stub::keeps_wrapper;
pub use unwind_tables::{REGISTERS, RETURN_ADDRESS, STACK_POINTER, register};
