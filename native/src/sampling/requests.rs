//! Requests of the JVM's own samplers and of profilers: what the signal handler copies at each.

use super::targets::Targets;
use crate::arch;
use crate::jvm::os::requests::pool::{Reader, Writers, pool};
use crate::jvm::os::requests::wrapping::{Asking, request};
use crate::jvm::os::signal::{HandlerContext, SignalSender};
use crate::truth::interrupted::Interrupted;
use crate::truth::trace_stack::StackCopy;
use oracle::RecordedSampler;
use oracle::tally::Drop;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The truth at one request.
pub struct Copy {
    /// Who made the request.
    pub requester: RecordedSampler,
    /// Kernel id of the thread.
    pub tid: i32,
    /// The processor's counter before the requester's handler, and behind.
    pub during: (u64, u64),
    /// The program counter of the interrupted code.
    pub pc: usize,
    /// The trace stack.
    pub stack: StackCopy,
    /// Whether the trace stack is that of a virtual thread.
    pub carried: bool,
    /// Whether the trace stack could be copied.
    pub copied: Result<(), Drop>,
}

/// JFR takes no deeper stacks: `stackdepth` is at most 2,048. Profilers have limits of their own.
const DEEPEST: usize = 2048 + 64;

/// The number of copies that may wait.
const WAITING: usize = 2048;

static WRITERS: OnceLock<Writers<Copy>> = OnceLock::new();

/// Requests for which no copy was free, by sampler.
static LOST: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Makes the copies. To be called once.
pub fn make() -> io::Result<Reader<Copy>> {
    let copy = |_| {
        Ok(Copy {
            requester: RecordedSampler::Profiler,
            tid: 0,
            during: (0, 0),
            pc: 0,
            stack: StackCopy::new(DEEPEST)?,
            carried: false,
            copied: Ok(()),
        })
    };
    let copies: io::Result<Vec<Copy>> = (0..WAITING).map(copy).collect();
    let (writers, reader) = pool(copies?);
    let taken = || io::Error::other("there are copies already");
    WRITERS.set(writers).map_err(|_| taken())?;
    Ok(reader)
}

/// Runs in place of the requester's handler, and calls that handler.
pub fn around(requester: RecordedSampler, context: &HandlerContext<'_>, earlier: &mut dyn FnMut()) {
    let (Some(writers), Some(thread)) = (WRITERS.get(), Interrupted::new(context)) else {
        return earlier();
    };
    let mut copied = || copy(writers, requester, thread, earlier);
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
    writers: &Writers<Copy>,
    requester: RecordedSampler,
    thread: Interrupted<'_>,
    earlier: &mut dyn FnMut(),
) {
    let state = thread.state();
    let passed = writers.pass(|copy| {
        copy.requester = requester;
        copy.tid = state.tid();
        copy.carried = state.carrier_stack().is_some();
        copy.pc = thread.context().registers().pc;
        copy.copied = state.stack().copy_to(&mut copy.stack);
        let from = arch::counter();
        earlier();
        copy.during = (from, arch::counter());
    });
    if !passed {
        LOST[requester as usize].fetch_add(1, Relaxed);
        earlier();
    }
}

/// Makes the request that JFR's timer of a thread makes, of a thread that runs. Returns whether there is one.
pub fn ask(targets: &mut Targets<'_>, sender: SignalSender) -> bool {
    let target = targets.choose(false, |_| false);
    target.is_some_and(|target| request(sender, Asking::CpuTime, target.tid))
}

/// How many requests of a sampler were not copied so far.
pub fn lost(sampler: RecordedSampler) -> u64 {
    LOST[sampler as usize].load(Relaxed)
}
