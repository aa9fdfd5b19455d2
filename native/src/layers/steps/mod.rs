//! Layers `gst-step`, `asgct-step` and `asgst-step`: a thread runs one instruction at a time, and the calls and returns
//! that its steps show are the truth.
//!
//! [`arrival`] lets threads begin to step at events of JVMTI, and compares GetStackTrace with the steps at
//! later events. [`judging`] judges the walker's answers, on a thread of its own, and [`visited`] keeps
//! where the walker was asked. [`names`] brings the methods of both sides together.

pub mod arrival;
mod facts;
pub mod judging;
mod names;
mod truth;
mod visited;
