//! When is a walk wrong? Each [`Truth`] answers in one file:
//!
//! | truth | compared with the walk | file |
//! | --- | --- | --- |
//! | [`TraceTruth`] | the trace stack at the same instant, which the hooks of rewritten code keep | `trace/mod.rs` |
//! | [`MountedTruth`] | the same, of a thread that may carry a virtual thread: layers of signals | `mounted.rs` |
//! | [`HereTruth`] | GetStackTrace at the same place | `here.rs` |
//! | [`NextTruth`] | GetStackTrace at the next safepoint | `next.rs` |
//! | [`ClassesTruth`] | what class files allow | `classes.rs` |
//! | [`StepTruth`](crate::StepTruth) | the calls and returns that steps have shown | `steps.rs` |
//! | [`ElementsTruth`] | the stack at the same instant, as classes, methods and lines | `elements.rs` |
//! | [`SliceTruth`] | the same stack, of which a part was asked for | `slice.rs` |
//! | [`AlsoClasses`] | one of these, and what class files allow | `also_classes.rs` |
//! | [`NativeTop`] | one of these, and the native method that the thread has called | `native_top.rs` |
//! | [`Settled`] | one of these, with what else is known of methods at that instant | `settled.rs` |
//!
//! # When is a sample of an asynchronous walker wrong?
//!
//! A signal handler copies the trace stack and asks the walker at one instant. In the order in which they are asked:
//!
//! 1. The walk is aligned with the trace stack, from the bottom up (`trace/align.rs`): each hooked frame needs an entry there,
//!    and each entry a frame, unless the frame's location proves that its hook has not run yet, or has run. Below the newest
//!    frame that GetStackTrace has confirmed since, every frame must be the same.
//! 2. Each frame must stand at an instruction that can have called the frame above (`trace/sites.rs`).
//! 3. Below the frame at which a virtual thread passes to its carrier, the carrier's trace stack counts (`mounted.rs`).
//! 4. Debug info records may explain inlined frames: then the walk is `imprecise` (`hotspot::debug_info`). Frames of redefined
//!    or unloaded methods are compared with the version whose entry is in their place (`Settled`).
//! 5. Class files must allow each call (`also_classes.rs`).
//! 6. Where the thread has called a native method, the frame of that method must be on top (`native_top.rs`).
//!
//! # A file
//!
//! A file has two functions that check each other: `judge` gives the verdict on a walk, and `expected` the end that a fault
//! must have which is injected in place of a walk. Walks are slices with the top frame first, as the walkers return them.

mod also_classes;
mod classes;
mod elements;
mod expected;
mod here;
mod mounted;
mod native_top;
mod next;
mod reason;
mod settled;
mod slice;
mod steps;
mod strength;
mod trace;
mod truth;
mod verdict;

pub use also_classes::AlsoClasses;
pub use classes::{ClassesTruth, Edged, judge_edges};
pub use elements::ElementsTruth;
pub use expected::{Expected, Unseen};
pub use here::HereTruth;
pub use mounted::MountedTruth;
pub use native_top::NativeTop;
pub use next::NextTruth;
pub use reason::Reason;
pub use settled::Settled;
pub use slice::{Slice, SliceTruth};
pub use strength::{Compared, Strength};
pub use trace::{TraceTruth, Versions, old_frames};
pub use truth::{Boundary, Edges, Input, Reference, Stack, Truth, running};
pub use verdict::{Judgement, Verdict};
