//! Ctrl-C and a polite kill are noted, not obeyed at once: the targets end first and the
//! report is written. SIGQUIT is for the target alone.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

static SIGNAL: AtomicI32 = AtomicI32::new(0);
static TO_PASS_ON: AtomicI32 = AtomicI32::new(0);

static QUIT: AtomicI32 = AtomicI32::new(0);

/// Who sent a signal.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
#[repr(i32)]
pub(crate) enum Sender {
    /// The terminal, or the kernel: all of the foreground got the signal.
    Terminal = 1,
    /// A process, to us alone.
    Process = 2,
}

/// Notes SIGINT, SIGTERM, SIGHUP and SIGQUIT from now on.
pub fn note() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
        // SAFETY: the action is fully set, and the handler only stores to atomics.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = handler as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(signal, &action, ptr::null_mut());
        }
    }
}

extern "C" fn handler(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // A terminal's signal went to the target too; one sent to us alone did not.
    // SAFETY: the kernel passes a valid siginfo with SA_SIGINFO.
    let alone = unsafe { (*info).si_code } <= 0;
    if signal == libc::SIGQUIT {
        let sender = if alone {
            Sender::Process
        } else {
            Sender::Terminal
        };
        QUIT.store(sender as i32, Ordering::Relaxed);
        return;
    }
    SIGNAL.store(signal, Ordering::Relaxed);
    if alone {
        TO_PASS_ON.store(signal, Ordering::Relaxed);
    }
}

/// Who asked for a dump of the threads by SIGQUIT, if anybody did; told once.
pub(crate) fn quit() -> Option<Sender> {
    match QUIT.swap(0, Ordering::Relaxed) {
        1 => Some(Sender::Terminal),
        2 => Some(Sender::Process),
        _ => None,
    }
}

/// The signal that asked us to end, if any did.
pub fn noted() -> Option<i32> {
    Some(SIGNAL.load(Ordering::Relaxed)).filter(|&signal| signal != 0)
}

/// A signal that the target did not get by itself; told once.
pub(crate) fn to_pass_on() -> Option<i32> {
    Some(TO_PASS_ON.swap(0, Ordering::Relaxed)).filter(|&signal| signal != 0)
}
