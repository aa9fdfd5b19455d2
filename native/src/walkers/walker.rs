//! The traits of stack walkers: where a walker can be asked, and what it answers.
//!
//! A walker may crash, as it may in any profiler. Where threads run one instruction at a time and ask at each instruction, the
//! process goes on ([`walk_guarded`]), so that the other instructions are judged too. A walk from an altered context ends the
//! process if it crashes: the run is there to see that.

use super::buffer::{ErrorCode, FrameBuffer, Walk};
use crate::jvm::jni::{Env, Local, Ref};
use crate::jvm::os::signal::ContextCopy;
use crate::jvm::os::trap::guarded;
use crate::truth::interrupted::Interrupted;
use crate::truth::thread_state::ThreadState;
use oracle::judge::Slice;
use oracle::trace::Location;

/// A stack walker, and the places where it can be asked.
pub trait Walker: Send + Sync {
    /// The walker's name in the tables of layers and walkers ([`oracle::LayerRow::walker`],
    /// [`hotspot::walkers::WALKERS`]).
    fn name(&self) -> &'static str;

    /// Prepares the walker. Called once, in the event VMInit, if a layer of the run asks the walker. `env`
    /// is the calling thread's.
    fn begin(&self, _: Env<'_>) {}

    /// Whether the walker itself suspends threads. Then nobody else may: only one JVMTI environment has the
    /// capability.
    fn suspends(&self) -> bool {
        false
    }

    /// The calling thread, of this state, begins to run Java code. `env` is its own.
    fn enter(&self, _: Env<'_>, _: &ThreadState) {}

    /// The calling thread, of this state, ends.
    fn leave(&self, _: Env<'_>, _: &ThreadState) {}

    /// How the walker walks the thread that a signal interrupted, if it can.
    fn in_handler(&self) -> Option<&dyn WalksInterrupted> {
        None
    }

    /// How the walker walks from a context that is not the thread's own, if it can.
    fn altered(&self) -> Option<&dyn WalksAltered> {
        None
    }

    /// How the walker completes the walk of an interrupted thread after the handler, if it does so.
    fn later(&self) -> Option<&dyn CompletesWalks> {
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

    /// How the walker walks another thread by running Java code, if it does so.
    fn in_java(&self) -> Option<&dyn WalksInJava> {
        None
    }
}

/// Walks the calling thread from its signal handler.
pub trait WalksInterrupted: Sync {
    /// Walks the thread from where the signal interrupted it. Async-signal-safe, as far as the
    /// VM's implementation is.
    fn walk(&self, thread: Interrupted<'_>, into: &mut FrameBuffer) -> Walk;

    /// A walk of the thread has crashed, and its handler goes on: puts back what the walk has changed in the VM.
    /// Async-signal-safe.
    fn clean_up(&self, _: Interrupted<'_>) {}
}

/// Walks the calling thread from a context that was altered at random, to see whether the walker survives that.
pub trait WalksAltered: Sync {
    /// Walks from `context`. `options` is a random number, which chooses among the walker's own options. The frames mean
    /// nothing. Async-signal-safe, as far as the walker's implementation is.
    ///
    /// # Safety
    /// The walker may crash, or damage the process before it crashes. The caller must want to know.
    unsafe fn walk_altered(
        &self,
        thread: Interrupted<'_>,
        context: &mut ContextCopy,
        options: u32,
        into: &mut FrameBuffer,
    ) -> Walk;
}

/// Has the frames of a walk only after the signal handler.
pub trait CompletesWalks {
    /// Waits for the frames of the walk that succeeded in the handler of the thread of this state, with `asked` as its
    /// buffer; `None` if the thread has ended, or there is no answer in time.
    fn complete(
        &self,
        thread: &ThreadState,
        asked: &FrameBuffer,
        into: &mut FrameBuffer,
    ) -> Option<Walk>;
}

/// Walks the calling thread inside a native method.
pub trait WalksHere {
    /// Walks the thread of `env`.
    fn walk(&self, env: Env<'_>, into: &mut FrameBuffer) -> Walk;

    /// Walks this part of the stack of the thread of `env`; `None` if the API gives whole stacks only.
    fn walk_slice(&self, _env: Env<'_>, _slice: Slice, _into: &mut FrameBuffer) -> Option<Walk> {
        None
    }
}

/// Walks other threads.
pub trait WalksOther {
    /// Walks the thread of this `java.lang.Thread`; `env` is the calling thread's. Takes no lock of
    /// the agent: the thread may be suspended while it holds one.
    fn walk(&self, env: Env<'_>, thread: Ref<'_>, into: &mut FrameBuffer) -> Walk;

    /// Whether the API promises the stacks of virtual threads, too.
    fn walks_virtual(&self) -> bool;
}

/// Walks other threads by running Java code. The code may wait for a lock that a suspended thread holds, so only
/// `java::asker` asks such a walker.
pub trait WalksInJava: Sync {
    /// Asks for the stack of `thread`, which may be suspended; `None` if the code throws.
    fn ask<'e>(&self, env: Env<'e>, thread: Walked<'_>) -> Option<Local<'e>>;

    /// Reads the stack of `thread` in an answer, when the thread runs again; `None` if the answer has no such stack.
    fn read(&self, env: Env<'_>, answer: Ref<'_>, thread: Walked<'_>) -> Option<Vec<StackElement>>;

    /// Whether the API promises the stacks of virtual threads, too.
    fn walks_virtual(&self) -> bool;
}

/// A thread whose stack is asked for.
#[derive(Copy, Clone)]
pub struct Walked<'a> {
    /// Its `java.lang.Thread`.
    pub object: Ref<'a>,
    /// Its kernel id.
    pub tid: i32,
}

/// A frame of a stack that Java code gave.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StackElement {
    /// The binary name of the class, with dots.
    pub class: String,
    /// The name of the method.
    pub method: String,
    /// The line, or [`Location::NATIVE`], or [`Location::UNKNOWN`].
    pub line: Location,
}

/// The lines of `java.lang.StackTraceElement`: -2 is a native method, other negative numbers are no line.
pub fn line(number: i32) -> Location {
    match number {
        -2 => Location::NATIVE,
        number if number < 0 => Location::UNKNOWN,
        number => Location(number),
    }
}

/// Asks `walker`. A crash is the answer [`hotspot::walkers::CRASHED`], with the program counter of the crash.
/// Async-signal-safe.
pub fn walk_guarded(
    walker: &dyn WalksInterrupted,
    thread: Interrupted<'_>,
    into: &mut FrameBuffer,
) -> (Walk, Option<usize>) {
    let tid = thread.state().tid();
    // SAFETY: a walker in a handler may find any thread in any state, so it takes no lock and no memory. What it
    // notes in the VM's thread it clears itself.
    match unsafe { guarded(tid, || walker.walk(thread, into)) } {
        Ok(walk) => (walk, None),
        Err(pc) => {
            walker.clean_up(thread);
            into.clear();
            (Err(ErrorCode(hotspot::walkers::CRASHED)), Some(pc))
        }
    }
}

/// Asks `walker` from a context that was altered. Async-signal-safe, as far as the walker is.
pub fn walk_altered(
    walker: &dyn WalksAltered,
    thread: Interrupted<'_>,
    context: &mut ContextCopy,
    options: u32,
    into: &mut FrameBuffer,
) -> Walk {
    // SAFETY: none can be shown. Who sets `Config::altered` wants to know whether the process survives.
    unsafe { walker.walk_altered(thread, context, options, into) }
}
