//! The common parts of the tests of several crates.
//!
//! * [`Deadline`] ends a test that hangs. A deadline lasts minutes, and longer on a slow or busy
//!   machine: no test depends on the machine's speed.
//! * [`jdks`] finds the JDKs of this machine, and [`on_each_jdk`] tests them side by side.
//! * [`patched`] makes JDKs whose VM describes itself otherwise.
//! * [`run`], [`run_with`] and [`wait`] run a child process to its end, under such a deadline.
//!
//! This crate is for tests only. Its functions panic to fail a test.

#![forbid(unsafe_code)]

mod deadline;
mod jdk;
pub mod patched;
mod process;

pub use deadline::{Deadline, until};
pub use jdk::{feature, jdks, on_each_jdk};
pub use process::{Output, run, run_until, run_with, wait};
