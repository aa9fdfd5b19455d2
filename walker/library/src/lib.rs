//! `libasgst.so`: the functions of `walker/include/profile2.h` for profilers in any language.
//!
//! A crate of its own, because cargo builds `walker` twice, once for the agent inside a build script, and gives a
//! shared library one name only.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

pub use walker::api;
