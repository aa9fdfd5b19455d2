//! Layers of steps: a thread runs one instruction at a time, and the calls and returns that its steps show are the
//! truth. The answers of layer `jfr-cpu-step` are in a recording: `requests` writes what was true.
//!
//! [`arrival`] lets threads begin to step at events of JVMTI, and compares GetStackTrace with the steps at
//! later events. [`judging`] judges the walker's answers, on a thread of its own, [`keeping`] lets threads
//! step, and [`visited`] keeps where they were. [`truth`] brings the methods of both sides together.

pub mod arrival;
pub mod judging;
pub mod keeping;
pub mod truth;
mod visited;
