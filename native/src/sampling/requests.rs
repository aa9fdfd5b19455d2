//! Requests of the JVM's own samplers and of profilers: what the signal handler copies at each.

use super::sample::Interruption;
use super::targets::Targets;
use crate::arch;
use crate::jvm::java_thread::JavaThreads;
use crate::jvm::os::requests::pool::{Reader, Writers, pool};
use crate::jvm::os::requests::profiler;
use crate::jvm::os::requests::wrapping::{Asking, request};
use crate::jvm::os::signal::{HandlerContext, SignalSender};
use crate::jvm::os::thread;
use crate::truth::interrupted::Interrupted;
use crate::truth::trace_stack::StackCopy;
use oracle::RecordedSampler;
use oracle::tally::Drop;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI32, AtomicU64};

/// The truth at one request.
pub struct Copy {
    /// Who made the request.
    pub requester: RecordedSampler,
    /// Kernel id of the thread.
    pub tid: i32,
    /// Whether the JVM has suspended the thread, and resumed it.
    pub resumed: bool,
    /// The processor's counter before the requester's handler, and behind.
    pub during: (u64, u64),
    /// The program counter of the interrupted code.
    pub pc: usize,
    /// What was interrupted.
    pub at: Interruption,
    /// The trace stack.
    pub stack: StackCopy,
    /// Whether the trace stack is that of a virtual thread.
    pub carried: bool,
    /// Whether the trace stack could be copied.
    pub copied: Result<(), Drop>,
}

/// JFR takes no deeper stacks: `stackdepth` is at most 2,048. Profilers have limits of their own.
const DEEPEST: usize = 2048 + 64;

/// The number of words of a stack that are looked at, 32 KiB: each request is looked at, and each copy needs the memory.
pub const WORDS: usize = 1 << 12;

/// The number of copies that may wait.
const WAITING: usize = 4096;

static COPYING: OnceLock<Copying> = OnceLock::new();

/// What handlers use.
struct Copying {
    writers: Writers<Copy>,
    /// The VM's threads, if the VM describes them.
    threads: Option<&'static JavaThreads>,
}

/// Requests for which no copy was free, by sampler.
static LOST: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Makes the copies. `threads` are the VM's, if it describes them. To be called once.
pub fn make(threads: Option<&'static JavaThreads>) -> io::Result<Reader<Copy>> {
    let copy = |_| {
        Ok(Copy {
            requester: RecordedSampler::Profiler,
            tid: 0,
            resumed: false,
            during: (0, 0),
            pc: 0,
            at: Interruption::new(WORDS),
            stack: StackCopy::new(DEEPEST)?,
            carried: false,
            copied: Ok(()),
        })
    };
    let copies: io::Result<Vec<Copy>> = (0..WAITING).map(copy).collect();
    let (writers, reader) = pool(copies?);
    let taken = || io::Error::other("there are copies already");
    let copying = Copying { writers, threads };
    COPYING.set(copying).map_err(|_| taken())?;
    Ok(reader)
}

/// The kernel id of the thread that reads the copies; 0 before it begins.
static READING: AtomicI32 = AtomicI32::new(0);

/// Leaves the calling thread, which reads the copies, out of the samples of profilers. While it is behind, most of the
/// samples would be its own, and each would make one more copy.
pub fn leave_out_this_thread() {
    READING.store(thread::id(), Relaxed);
}

/// Runs in place of the requester's handler, and calls that handler. A profiler's is not called in the thread that reads the
/// copies: timers of it go on or rest, and neither matters.
pub fn around(requester: RecordedSampler, context: &HandlerContext<'_>, earlier: &mut dyn FnMut()) {
    let (Some(copying), Some(thread)) = (COPYING.get(), Interrupted::new(context)) else {
        return earlier();
    };
    let is_own = thread.state().tid() == READING.load(Relaxed);
    if is_own && requester == RecordedSampler::Profiler {
        return;
    }
    let mut copied = || copy(copying, requester, thread, earlier);
    match requester {
        RecordedSampler::CpuTime | RecordedSampler::Profiler => copied(),
        RecordedSampler::Execution => {
            if !thread.state().while_suspended(&mut copied) {
                earlier();
            }
        }
    }
}

/// Copies the trace stack of the calling thread, and calls the requester's handler.
fn copy(
    copying: &Copying,
    requester: RecordedSampler,
    thread: Interrupted<'_>,
    earlier: &mut dyn FnMut(),
) {
    let state = thread.state();
    let passed = copying.writers.pass(|copy| {
        copy.requester = requester;
        copy.tid = state.tid();
        copy.carried = state.carrier_stack().is_some();
        copy.pc = thread.context().registers().pc;
        let seen = copying.threads.and_then(|threads| thread.seen(threads));
        copy.copied = state.stack().copy_to(&mut copy.stack);
        // The VM's compilers, for instance, are Java threads without Java frames. Their stacks say nothing, and with a
        // profiler that samples all threads most requests are of them.
        let has_no_frames = copy.copied.is_ok() && copy.stack.is_empty() && !copy.carried;
        let is_outside = has_no_frames && seen.is_some_and(|seen| seen.is_outside());
        copy.at.copy_registers(thread, seen);
        if !is_outside {
            copy.at.stack_top.copy(thread, seen);
        }
        let from = arch::counter();
        earlier();
        copy.during = (from, arch::counter());
        copy.resumed = state.was_resumed();
    });
    if !passed {
        LOST[requester as usize].fetch_add(1, Relaxed);
        earlier();
    }
}

/// Makes the request that a profiler's timer of a thread makes, or JFR's if there is no profiler, of a thread that runs. Returns whether there
/// is one.
pub fn ask(targets: &mut Targets<'_>, sender: SignalSender, of_profiler: bool) -> bool {
    let Some(target) = targets.choose(false, |_| false) else {
        return false;
    };
    if of_profiler {
        profiler::request(sender, target.tid)
    } else {
        request(sender, Asking::CpuTime, target.tid)
    }
}

/// How many requests of a sampler were not copied so far.
pub fn lost(sampler: RecordedSampler) -> u64 {
    LOST[sampler as usize].load(Relaxed)
}
