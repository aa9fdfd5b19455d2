//! `libasgst`, the walker for profilers in any language: libraries, headers and examples.
//!
//! * [`link`]: the shared and the static library, made from cargo's archive of objects;
//! * [`files`]: the files, as folders below `/usr` have them.

pub mod files;
pub mod link;
