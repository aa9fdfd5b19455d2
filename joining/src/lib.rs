//! Joins the events of the JVM's own samplers, and of profilers, with what was true at the instants of their requests.
//!
//! # Purpose
//!
//! JFR's samplers do not tell an agent when they sample. But they interrupt threads with signals, and the agent's
//! handlers stand before the JVM's: they copy the thread's trace stack, and the time before and behind the JVM's
//! handler. JFR takes the time of its event in between. A profiler that samples by signals does the same, so it is
//! judged in the same way ([`profiler`]). So after the run an event belongs to the request of its
//! thread at its time, and its stack can be judged by the trace stack of that very instant. Where a thread runs one
//! instruction at a time, the agent makes the requests itself, and the truth is what the steps have shown.
//!
//! | module | holds |
//! |---|---|
//! | [`clock`] | the agent's counter at a time of the JVM's clock |
//! | [`requests`] | the requests by thread and time |
//! | [`mod@file`] | the file of requests, which the agent writes ([`oracle::requests`]) |
//! | [`profiler`] | what is to be known of a profiler: options, events, marks |
//! | [`methods`] | methods by name, as recordings have them |
//! | [`truths`] | what was true at a request: a trace stack, or what steps have shown |
//! | [`classes`] | the class files of a run, which judge stacks, too |
//! | [`instant`] | the truth at a request with class files and debug info records |
//! | [`judging`] | the stack of an event, compared with the truth |
//! | `unnamed` | frames whose methods a profiler could not name |
//! | [`run`] | all events of a run: joined, judged, counted |
//! | [`codes`] | the joined events by the code that ran |
//! | [`evidence`] | the mismatches in the form of reports |
//! | [`hottest`] | the methods at a request: those that ran, and those that the sampler names |
//! | [`faults`] | faults in place of joined events, to test the judge |
//!
//! # Limits
//!
//! The crate knows no JVM. It reads the two files of a run: [`join`]. A recording names methods and not their
//! identities, so methods of one name are one method. An event of a virtual thread has no thread id of the system:
//! its request is that of the only carrier that was asked at the time.
#![forbid(unsafe_code)]

mod causes;
pub mod classes;
pub mod clock;
pub mod codes;
pub mod evidence;
pub mod faults;
pub mod file;
mod folder;
pub mod hottest;
pub mod instant;
pub mod judging;
pub mod methods;
pub mod origins;
pub mod profiler;
pub mod requests;
pub mod run;
pub mod truths;
mod unnamed;

pub use folder::{Joined, join, recording};
