//! Handlers of ours before the JVM's own.
//!
//! HotSpot suspends threads with SIGUSR2 (`signals_posix.cpp`): the handler stays in the thread until a second
//! SIGUSR2 arrives, which is handled within the first. JFR's sampler by CPU time uses SIGPROF.

use crate::jvm::os::earlier::{self, call_earlier};
use crate::jvm::os::signal::{self, HandlerContext, SignalSender};
use oracle::RecordedSampler;
use std::ffi::{c_int, c_void};
use std::io;
use std::sync::OnceLock;

/// A signal by which a sampler of the JVM makes its requests.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Asking {
    /// The JVM suspends the thread.
    Suspension,
    /// The thread has used CPU time.
    CpuTime,
}

impl Asking {
    /// The sampler that uses the signal.
    pub fn sampler(self) -> RecordedSampler {
        match self {
            Asking::Suspension => RecordedSampler::Execution,
            Asking::CpuTime => RecordedSampler::CpuTime,
        }
    }

    fn number(self) -> c_int {
        match self {
            Asking::Suspension => libc::SIGUSR2,
            Asking::CpuTime => libc::SIGPROF,
        }
    }

    fn handler(self) -> usize {
        match self {
            Asking::Suspension => suspension as *const () as usize,
            Asking::CpuTime => cpu_time as *const () as usize,
        }
    }
}

/// What runs in place of an earlier handler, and must call that handler once.
pub type Around = fn(RecordedSampler, &HandlerContext<'_>, &mut dyn FnMut());

struct Wrapped {
    around: Around,
    earlier: libc::sigaction,
}

static WRAPPED: [OnceLock<Wrapped>; 2] = [OnceLock::new(), OnceLock::new()];

/// Lets `around` run in place of the JVM's handler of the signal. Returns whether it does from now on: the JVM may
/// have no handler yet.
pub fn wrap(signal: Asking, around: Around) -> io::Result<bool> {
    if WRAPPED[signal as usize].get().is_some() {
        return Ok(true);
    }
    let earlier = earlier::find(signal.number())?;
    if [libc::SIG_DFL, libc::SIG_IGN].contains(&earlier.sa_sigaction) {
        return Ok(false);
    }
    _ = WRAPPED[signal as usize].set(Wrapped { around, earlier });
    // SAFETY: the handler is async-signal-safe if `around` is.
    unsafe { earlier::replace(signal.number(), &earlier, signal.handler()) }?;
    Ok(true)
}

/// Sends `asking`'s signal to the thread whose kernel id is `tid`, as the timer of the thread does. Returns false, and
/// sends nothing, unless our handler stands before the JVM's: another handler may be none, and the signal would end the
/// process.
pub fn request(sender: SignalSender, asking: Asking, tid: i32) -> bool {
    let is_in_place = WRAPPED[asking as usize].get().is_some()
        && earlier::find(asking.number()).is_ok_and(|found| found.sa_sigaction == asking.handler());
    is_in_place && sender.send_as_timer(tid, asking.number()).is_ok()
}

/// Calls the JVM's handler of `asking`'s signal with `context`, as if the timer of the calling thread had fired there. Returns
/// false, and calls nothing, unless our handler stands before the JVM's. Async-signal-safe.
pub fn request_here(asking: Asking, context: &HandlerContext<'_>) -> bool {
    let Some(wrapped) = WRAPPED[asking as usize].get() else {
        return false;
    };
    let mut info = signal::of_timer(asking.number());
    // SAFETY: the handler gets the signal of a timer, and the context of a signal of this thread, whose handler runs.
    unsafe {
        call_earlier(
            &wrapped.earlier,
            asking.number(),
            &raw mut info,
            context.as_raw(),
        );
    }
    true
}

extern "C" fn suspension(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: these are the arguments of the signal's handler.
    unsafe { handle(Asking::Suspension, signal, info, context) }
}

extern "C" fn cpu_time(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: these are the arguments of the signal's handler.
    unsafe { handle(Asking::CpuTime, signal, info, context) }
}

/// # Safety
/// The arguments must be those of the signal's handler.
unsafe fn handle(asking: Asking, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(wrapped) = WRAPPED[asking as usize].get() else {
        return;
    };
    // SAFETY: the arguments are those of the handler, and the kernel's pointers live until this returns.
    unsafe {
        let of = HandlerContext::of(&*context.cast::<libc::ucontext_t>());
        let mut earlier = || call_earlier(&wrapped.earlier, signal, info, context);
        (wrapped.around)(asking.sampler(), &of, &mut earlier);
    }
}
