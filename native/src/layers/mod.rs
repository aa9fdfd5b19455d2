//! The layers: the answers of walkers, compared with the truth. There is one file for each layer.
//!
//! All checks take one path ([`path`]): the layer judges the walker's answer, a fault may be
//! injected in its place, the verdict is counted, and a mismatch is recorded. Layers whose instant
//! is a check inside a hook are made by [`at_check`], those whose instant is a signal by
//! [`at_signal`], those whose thread is suspended by [`at_suspend`], and the layer of JVMTI events by
//! [`asgct_event`].

mod asgct_async;
pub mod asgct_event;
mod asgct_gst;
pub mod asgct_safepoint;
pub mod at_check;
pub mod at_signal;
mod at_suspend;
mod call_edge;
pub mod context;
pub mod ground;
mod gst;
mod path;
pub mod settling;
