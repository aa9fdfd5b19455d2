//! Handlers of ours before those of a profiler's library.
//!
//! A profiler that samples by signals installs handlers. Which signals it takes depends on its options, and it may
//! install a handler again when it starts anew, so all signals are looked at again and again: a handler whose code is
//! in the profiler's library gets ours in its place, which calls it.

use super::wrapping::Around;
use crate::jvm::os::earlier::{self, call_earlier};
use crate::jvm::os::signal::{FAULTS, HandlerContext, SignalSender};
use crate::jvm::os::signal_set::SIGNALS;
use crate::jvm::symbols;
use oracle::RecordedSampler;
use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicI32, AtomicPtr};
use std::{io, ptr};

/// Signals that no handler may have.
const WITHOUT_HANDLER: [c_int; 2] = [libc::SIGKILL, libc::SIGSTOP];

/// Whether a profiler may sample by this signal. It takes those of faults to survive its own mistakes.
fn may_sample(signal: &c_int) -> bool {
    !FAULTS.contains(signal) && !WITHOUT_HANDLER.contains(signal)
}

/// The profiler's own actions, by signal; null where ours does not stand before it. They are never freed, because a
/// handler may be using one.
static WRAPPED: [AtomicPtr<libc::sigaction>; SIGNALS] =
    [const { AtomicPtr::new(ptr::null_mut()) }; SIGNALS];

static AROUND: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// The signal of the profiler that came last; 0 before the first. A profiler may have handlers of signals by which it
/// does not sample.
static SAMPLES_BY: AtomicI32 = AtomicI32::new(0);

/// The library of a profiler.
pub struct ProfilerLibrary {
    /// Its file, without links.
    file: PathBuf,
    /// The handler of each signal when it was looked at last: the file of its code is looked up once.
    seen: [usize; SIGNALS],
}

impl ProfilerLibrary {
    /// The library in `file`. `around` runs in place of its handlers, and must call them.
    pub fn new(file: &Path, around: Around) -> ProfilerLibrary {
        AROUND.store(around as *mut (), Release);
        ProfilerLibrary {
            file: file.canonicalize().unwrap_or_else(|_| file.into()),
            seen: [libc::SIG_DFL; SIGNALS],
        }
    }

    /// Whether a signal of the profiler came. Before that it is not known by which of its signals it samples.
    pub fn has_sampled(&self) -> bool {
        SAMPLES_BY.load(Acquire) != 0
    }

    /// Puts ours before each of its handlers that stands alone.
    pub fn wrap(&mut self) -> io::Result<()> {
        let signals = (1..SIGNALS as c_int).filter(may_sample);
        for signal in signals {
            // The C library keeps two signals for itself, and refuses to tell.
            let Ok(found) = earlier::find(signal) else {
                continue;
            };
            let seen = std::mem::replace(&mut self.seen[signal as usize], found.sa_sigaction);
            if seen != found.sa_sigaction && self.has(found.sa_sigaction) {
                let kept = Box::into_raw(Box::new(found));
                WRAPPED[signal as usize].store(kept, Release);
                // SAFETY: the handler has the three arguments, and is async-signal-safe as far as `around` is.
                unsafe { earlier::replace(signal, &found, handler as *const () as usize) }?;
            }
        }
        Ok(())
    }

    /// Whether this code is in the library.
    fn has(&self, handler: usize) -> bool {
        if [libc::SIG_DFL, libc::SIG_IGN].contains(&handler) {
            return false;
        }
        let file = symbols::file(handler);
        file.is_some_and(|file| file.canonicalize().unwrap_or(file) == self.file)
    }
}

/// Sends the signal by which the profiler samples to the thread whose kernel id is `tid`, as a timer of the thread does.
/// Returns false, and sends nothing, unless our handler stands before the profiler's. Async-signal-safe.
pub fn request(sender: SignalSender, tid: i32) -> bool {
    let signal = SAMPLES_BY.load(Acquire);
    let ours = handler as *const () as usize;
    let is_ours = |found: libc::sigaction| found.sa_sigaction == ours;
    let is_in_place = signal != 0 && earlier::find(signal).is_ok_and(is_ours);
    is_in_place && sender.send_as_timer(tid, signal).is_ok()
}

extern "C" fn handler(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let kept = WRAPPED.get(signal as usize);
    let kept = kept.map_or(ptr::null_mut(), |kept| kept.load(Acquire));
    let around = AROUND.load(Acquire);
    if kept.is_null() || around.is_null() {
        return;
    }
    SAMPLES_BY.store(signal, Release);
    // SAFETY: the action is never freed; `AROUND` has nothing but a function of this type; the arguments are those of
    // the handler, and the kernel's pointers live until it returns.
    unsafe {
        let around: Around = std::mem::transmute::<*mut (), Around>(around);
        let of = HandlerContext::of(&*context.cast::<libc::ucontext_t>());
        let mut earlier = || call_earlier(&*kept, signal, info, context);
        around(RecordedSampler::Profiler, &of, &mut earlier);
    }
}
