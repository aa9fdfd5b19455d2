//! `libasgst.so`: the functions of `walker/include/profile2.h` for profilers in any language.
//!
//! A crate of its own, because cargo builds `walker` twice, once for the agent inside a build script, and gives a
//! shared library one name only.

pub use walker::api;
