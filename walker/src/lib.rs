//! AsyncGetStackTrace, the frame iterator and the safepoint queue for stock JDKs.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

pub mod api;
pub mod c_frames;
pub mod memory;
pub mod vm;
pub mod walk;
