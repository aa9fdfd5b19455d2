//! Machine code that HotSpot's compilers generate, by processor.
//!
//! All functions take bytes, so code of either processor is recognised on any machine.

mod aarch64;
mod processor;
mod x86_64;

pub use aarch64::Aarch64;
pub use processor::{Arch, Registers};
pub use x86_64::X86_64;

/// The processor that this program was built for.
#[cfg(target_arch = "aarch64")]
pub type Native = Aarch64;

/// The processor that this program was built for.
#[cfg(not(target_arch = "aarch64"))]
pub type Native = X86_64;
