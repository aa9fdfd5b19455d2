//! Loads that may fault, and the registers of a signal: the part of this crate that differs by architecture. The twin of [`hotspot::arch`].
//!
//! Each architecture has a folder with the same functions. The list here is the contract: loads of a byte, of two, four,
//! eight and sixteen bytes, which have no value where they fault; what the handler of faults asks; and the registers.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod table;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as current;
#[cfg(target_arch = "x86_64")]
use x86_64 as current;

pub use current::{LOADS, byte, bytes, half, int, registers, resume, word};
pub use table::{prepare, resumption};

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
compile_error!("the reader of the VM is written for Linux on x86-64 and aarch64 only");
