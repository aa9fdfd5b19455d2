//! Machine code that HotSpot generates, by architecture.
//!
//! * `contract`: [`Arch`], what causes and evidence ask of an architecture;
//! * `follow`: [`Follow`], what walks and steps ask: code followed instruction by instruction;
//! * `branches`, `overlay`: the branches that a simulation has met, and the words that it has written;
//! * `instruction`: the effects of instructions, in words that all architectures share;
//! * [`x86_64`], [`aarch64`]: the architectures. Files of one name hold the same part. What is not known of an
//!   architecture has no file there: the trait answers [`NotKnown`].
//!
//! All functions take bytes, so code of either architecture is recognised on any machine. Nothing outside of these two
//! folders, and of their twins in the crates that read a running VM, names a register or an instruction.

pub mod aarch64;
mod branches;
mod contract;
mod follow;
mod instruction;
mod overlay;
#[cfg(test)]
mod toy;
pub mod x86_64;

pub use aarch64::Aarch64;
pub use contract::{Arch, InterpretedFrame, NotKnown, RETURN_ADDRESS, Registers, SignalFrame};
pub use follow::{Calls, Depth, Exit, Follow, Framing, Landings, Settled};
pub use instruction::{Effect, Flow, Instruction, Register, Values};
pub use x86_64::X86_64;

/// The architecture that this program was built for.
#[cfg(target_arch = "aarch64")]
pub type Native = Aarch64;

/// The architecture that this program was built for.
#[cfg(not(target_arch = "aarch64"))]
pub type Native = X86_64;

/// The values of its general registers.
pub type NativeRegisters = <Native as Follow>::Registers;
