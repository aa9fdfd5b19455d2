//! Ctrl-C, SIGTERM and SIGHUP do not end this process at once: first the JVMs end, and the report
//! is written. SIGQUIT is for the JVM alone.

use rustix::process::Signal;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};
use std::io;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

static SIGNAL: AtomicI32 = AtomicI32::new(0);
static TO_PASS_ON: AtomicI32 = AtomicI32::new(0);

static QUIT: AtomicI32 = AtomicI32::new(0);

/// Who sent a signal.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
#[repr(i32)]
pub(crate) enum Sender {
    /// The terminal or the kernel: all processes in the foreground got the signal.
    Terminal = 1,
    /// A process, which sent the signal to this process alone.
    Process = 2,
}

/// Takes note of SIGINT, SIGTERM, SIGHUP and SIGQUIT from now on. Fails if the process has no
/// descriptor or no thread left.
pub fn note() -> io::Result<()> {
    let all = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT].map(Signal::as_raw);
    let mut signals = SignalsInfo::<WithOrigin>::new(all)?;
    let body = move || signals.forever().for_each(|signal| take(&signal));
    thread::Builder::new().name("signals".into()).spawn(body)?;
    Ok(())
}

fn take(origin: &Origin) {
    // A signal of the terminal went to the JVM too. A signal to this process alone did not.
    let sender = match origin.cause {
        Cause::Sent(_) => Sender::Process,
        _ => Sender::Terminal,
    };
    if origin.signal == Signal::QUIT.as_raw() {
        QUIT.store(sender as i32, Ordering::Relaxed);
        return;
    }
    if sender == Sender::Process {
        TO_PASS_ON.store(origin.signal, Ordering::Relaxed);
    }
    // Stored last: who reads the signal must also see whether to pass the signal on.
    SIGNAL.store(origin.signal, Ordering::Release);
}

/// The sender of a SIGQUIT, which asks for a dump of the threads. Each signal is returned once.
pub(crate) fn quit() -> Option<Sender> {
    match QUIT.swap(0, Ordering::Relaxed) {
        1 => Some(Sender::Terminal),
        2 => Some(Sender::Process),
        _ => None,
    }
}

/// The signal that asked this process to end, if there was one.
pub fn noted() -> Option<Signal> {
    Signal::from_named_raw(SIGNAL.load(Ordering::Acquire))
}

/// A signal that the JVM did not get. Each signal is returned once.
pub(crate) fn to_pass_on() -> Option<Signal> {
    Signal::from_named_raw(TO_PASS_ON.swap(0, Ordering::Relaxed))
}
