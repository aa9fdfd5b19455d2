//! The layers: the answers of walkers, compared with the truth.
//!
//! All checks take one path ([`path::Check::run`]): the layer's truth ([`oracle::judge::Truth`]) judges the walker's answer,
//! a fault may be injected in its place, the verdict is counted, and a mismatch is recorded. A row of the table of layers
//! says when the walker is asked, and what the answer is compared with:
//!
//! | instant | file | | truth | file |
//! | --- | --- | --- | --- | --- |
//! | a check in a hook | [`at_check`] | | the trace stack | `with_trace` |
//! | an event of JVMTI | [`at_event`] | | GetStackTrace at the same place | `with_here` |
//! | a signal | [`at_signal`] | | GetStackTrace at the next safepoint | `with_next` |
//! | a suspended thread | `at_suspend` | | class files | `with_classes` |
//!
//! Layers of the JVM's own samplers are not judged here: [`requests`] writes down what is true at each of
//! their requests, and the crate `joining` judges after the run.
//!
//! At signals the method that ran and the method that the walker names are counted, too: `path` and `profiles`.
//!
//! Where a thread has called a native method, `native_top` says which, and the frame of that method must be on top.
//!
//! Layers whose truth is itself judged have their own files: [`ground`] and `gst`, for parts of stacks `gst_slice`. Layers of threads that run
//! one instruction at a time are in [`steps`].

pub mod at_check;
pub mod at_event;
pub mod at_signal;
mod at_suspend;
pub mod context;
pub mod ground;
mod gst;
mod gst_slice;
mod native_top;
mod path;
mod profiles;
pub mod requests;
pub mod steps;
mod with_classes;
pub mod with_here;
mod with_next;
mod with_trace;
