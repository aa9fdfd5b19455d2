//! The traits of stack walkers.

use super::buffer::{FrameBuffer, Walk};
use crate::jvm::jni::{Env, Ref};
use crate::truth::interrupted::Interrupted;

/// A stack walker, and the places where it can be asked.
pub trait Walker: Send + Sync {
    /// The walker's name in the tables of layers and walkers ([`oracle::LayerRow::walker`],
    /// [`hotspot::walkers::WALKERS`]).
    fn name(&self) -> &'static str;

    /// Prepares the walker. Called once, in the event VMInit, if a layer of the run asks the walker. `env`
    /// is the calling thread's.
    fn begin(&self, _: Env<'_>) {}

    /// How the walker walks the thread that a signal interrupted, if it can.
    fn in_handler(&self) -> Option<&dyn WalksInterrupted> {
        None
    }

    /// How the walker walks the calling thread inside a native method, if it can.
    fn here(&self) -> Option<&dyn WalksHere> {
        None
    }

    /// How the walker walks another thread, suspended or at that thread's next safepoint, if it can.
    fn elsewhere(&self) -> Option<&dyn WalksOther> {
        None
    }
}

/// Walks the calling thread from its signal handler.
pub trait WalksInterrupted: Sync {
    /// Walks the thread from where the signal interrupted it. Async-signal-safe, as far as the
    /// VM's implementation is.
    fn walk(&self, thread: Interrupted<'_>, into: &mut FrameBuffer) -> Walk;
}

/// Walks the calling thread inside a native method.
pub trait WalksHere {
    /// Walks the thread of `env`.
    fn walk(&self, env: Env<'_>, into: &mut FrameBuffer) -> Walk;
}

/// Walks other threads.
pub trait WalksOther {
    /// Walks the thread of this `java.lang.Thread`; `env` is the calling thread's. Takes no lock of
    /// the agent: the thread may be suspended while it holds one.
    fn walk(&self, env: Env<'_>, thread: Ref<'_>, into: &mut FrameBuffer) -> Walk;
}
