//! What walks ask of the architecture: the numbers of registers in unwind tables, and the stub that calls Java methods. The twin of [`hotspot::arch`], which knows the machine code.
//!
//! Each architecture has a folder with the same functions. The list here is the contract.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as current;
#[cfg(target_arch = "x86_64")]
use x86_64 as current;

pub use current::{REGISTERS, RETURN_ADDRESS, STACK_POINTER, keeps_wrapper, register};

use hotspot::arch::{Follow, Native, NotKnown};

/// Whether stacks of this architecture are walked.
pub const WALKS: Result<(), NotKnown> = Native::FOLLOWS;
