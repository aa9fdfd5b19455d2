//! What the handler of traps does, and how a thread begins and ends to step.

use super::counts::{COUNTS, End};
use super::thread::Stepper;
use crate::jvm::os::clock;
use crate::jvm::os::signal::HandlerContext;
use crate::jvm::os::thread_owned::ThreadOwned;
use crate::jvm::os::trap::{self, Next, Trap, crossing};
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

static STEPPER: OnceLock<ThreadOwned<Stepper>> = OnceLock::new();

/// When the next turn may begin, in nanoseconds of [`clock::since_start`].
static NEXT_TURN: AtomicU64 = AtomicU64::new(0);

/// How long all threads run freely at first, while the VM starts, in nanoseconds.
const START: u64 = 500_000_000;

/// How long all threads run freely between two turns, in nanoseconds.
const BETWEEN: u64 = 10_000_000;

/// How long others wait for a thread that has entered the kernel, in nanoseconds: most calls are short.
const CROSSING: u64 = 20_000_000;

/// Whether no thread may step any more.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Lets threads step from now on. To be called once.
pub fn install(stepper: Stepper) -> io::Result<()> {
    NEXT_TURN.store(clock::since_start() + START, Relaxed);
    STEPPER
        .set(ThreadOwned::new(stepper))
        .map_err(|_| io::Error::other("threads step already"))?;
    trap::install(on_trap)
}

/// No thread steps from now on.
pub fn stop() {
    STOPPED.store(true, Relaxed);
}

/// Whether threads may step.
pub fn may_step() -> bool {
    STEPPER.get().is_some() && !STOPPED.load(Relaxed)
}

/// The calling thread steps no more for now, if it does. Returns whether it did.
pub fn pause() -> bool {
    let steps = STEPPER.get().is_some_and(ThreadOwned::is_mine);
    if steps {
        trap::trap(Next::Run);
    }
    steps
}

/// The calling thread, which has paused or has taken the stepper, steps on.
pub fn go_on() {
    trap::trap(Next::Step);
}

/// Takes the stepper for the calling thread, if it is free.
pub fn take() -> bool {
    let is_time = clock::since_start() >= NEXT_TURN.load(Relaxed);
    let has_taken = is_time && may_step() && STEPPER.get().is_some_and(ThreadOwned::take);
    if has_taken {
        trap::prepare();
    }
    has_taken
}

/// The calling thread gives the stepper back.
pub fn give_back(end: End) {
    COUNTS.ended(end);
    release(match end {
        End::Turn => BETWEEN,
        _ => 0,
    });
}

/// The calling thread gives the stepper back. The next turn may begin after so many nanoseconds.
fn release(until_next: u64) {
    if let Some(stepper) = STEPPER.get() {
        trap::end();
        NEXT_TURN.store(clock::since_start() + until_next, Relaxed);
        stepper.give_back();
    }
}

/// Lends the stepper of the calling thread, which does not step now.
pub fn with<R>(work: impl FnOnce(&mut Stepper) -> R) -> Option<R> {
    STEPPER.get()?.with(work)
}

fn on_trap(context: &HandlerContext<'_>, trap: Trap) -> Next {
    if let Trap::Crossed(crossing) = trap {
        return came_back(context, crossing);
    }
    // A thread that does not hold the stepper has the flag of a thread that began it, or of code that
    // loaded earlier flags.
    let Some(stepper) = STEPPER.get().filter(|stepper| stepper.is_mine()) else {
        return Next::Run;
    };
    let next = match trap {
        Trap::Called(Next::Run | Next::Deliver | Next::Cross(_)) | Trap::Crossed(_) => {
            return Next::Run;
        }
        Trap::Called(Next::Step) => stepper.with(|stepper| {
            stepper.start(context);
            Ok(Next::Step)
        }),
        Trap::Stepped if STOPPED.load(Relaxed) => Some(Err(End::Stopped)),
        Trap::Stepped => stepper.with(|stepper| stepper.step(context)),
    };
    match next {
        Some(Ok(Next::Cross(crossing))) => {
            stepper.with(|stepper| stepper.park(crossing));
            release(CROSSING);
            Next::Cross(crossing)
        }
        Some(Ok(next)) => next,
        Some(Err(end)) => {
            give_back(end);
            Next::Run
        }
        None => Next::Run,
    }
}

/// The thread has come back from the kernel: it steps on, unless another thread steps.
fn came_back(context: &HandlerContext<'_>, crossing: usize) -> Next {
    let stepper = STEPPER.get().filter(|stepper| may_step() && stepper.take());
    let resumed =
        stepper.and_then(|stepper| stepper.with(|stepper| stepper.resume(crossing, context)));
    crossing::give_back(crossing);
    match resumed {
        Some(()) => Next::Step,
        None => {
            COUNTS.ended(if STOPPED.load(Relaxed) {
                End::Stopped
            } else {
                End::Elsewhere
            });
            Next::Run
        }
    }
}
