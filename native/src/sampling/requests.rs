//! Requests of the JVM's own samplers: what the signal handler copies at each.

use super::targets::Targets;
use crate::arch;
use crate::jvm::os::requests::pool::{Reader, Writers, pool};
use crate::jvm::os::requests::wrapping::{Asking, request};
use crate::jvm::os::signal::{HandlerContext, Post};
use crate::truth::interrupted::Interrupted;
use crate::truth::trace_stack::StackCopy;
use oracle::tally::Drop;
use oracle::{JvmSampler, Layer};
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The truth at one request.
pub struct Copy {
    /// The signal of the request.
    pub asking: Asking,
    /// Kernel id of the thread.
    pub tid: i32,
    /// The processor's counter before the JVM's handler, and behind.
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

/// JFR takes no deeper stacks: `stackdepth` is at most 2,048.
const DEEPEST: usize = 2048 + 64;

/// The number of copies that may wait.
const WAITING: usize = 2048;

static WRITERS: OnceLock<Writers<Copy>> = OnceLock::new();

/// Requests for which no copy was free, by signal.
static LOST: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Makes the copies. To be called once.
pub fn make() -> io::Result<Reader<Copy>> {
    let copy = |_| {
        Ok(Copy {
            asking: Asking::Suspension,
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

/// Runs in place of the JVM's handler, and calls that handler.
pub fn around(asking: Asking, context: &HandlerContext<'_>, earlier: &mut dyn FnMut()) {
    let (Some(writers), Some(thread)) = (WRITERS.get(), Interrupted::new(context)) else {
        return earlier();
    };
    let mut copied = || copy(writers, asking, thread, earlier);
    match asking {
        Asking::CpuTime => copied(),
        Asking::Suspension => {
            if !thread.state().while_suspended(&mut copied) {
                earlier();
            }
        }
    }
}

/// Copies the trace stack of the calling thread, and calls the JVM's handler.
fn copy(
    writers: &Writers<Copy>,
    asking: Asking,
    thread: Interrupted<'_>,
    earlier: &mut dyn FnMut(),
) {
    let state = thread.state();
    let passed = writers.pass(|copy| {
        copy.asking = asking;
        copy.tid = state.tid();
        copy.carried = state.carrier_stack().is_some();
        copy.pc = thread.context().registers().pc;
        copy.copied = state.stack().copy_to(&mut copy.stack);
        let from = arch::counter();
        earlier();
        copy.during = (from, arch::counter());
    });
    if !passed {
        LOST[asking as usize].fetch_add(1, Relaxed);
        earlier();
    }
}

/// Makes the request that JFR's timer of a thread makes, of a thread that runs. Returns whether there is one.
pub fn ask(targets: &mut Targets<'_>, post: Post) -> bool {
    let target = targets.choose(false, |_| false);
    target.is_some_and(|target| request(post, Asking::CpuTime, target.tid))
}

/// The layer of the requests that come with a signal.
pub fn layer(asking: Asking) -> Layer {
    let sampler = match asking {
        Asking::Suspension => JvmSampler::Execution,
        Asking::CpuTime => JvmSampler::CpuTime,
    };
    sampler.layer()
}

/// How many requests were not copied so far.
pub fn lost(asking: Asking) -> u64 {
    LOST[asking as usize].load(Relaxed)
}
