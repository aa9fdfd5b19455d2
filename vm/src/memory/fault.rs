//! The handler that recovers from faults of this library's loads, and passes all other faults to
//! the earlier handlers: those of the JVM, which needs them for null checks and polls.

use crate::arch;
use crate::library::Library;
use crate::memory::budget::Budget;
use crate::memory::lasting::Lasting;
use hotspot::arch::NotKnown;
use std::cell::{Cell, UnsafeCell};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};

/// The signals of a load that faults.
const FAULTS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// The earlier handlers, in the order of [`FAULTS`].
struct Before([UnsafeCell<MaybeUninit<libc::sigaction>>; 2]);

// SAFETY: written once, before our handler is there to read them.
unsafe impl Sync for Before {}

static BEFORE: Before = Before([const { UnsafeCell::new(MaybeUninit::uninit()) }; 2]);
static IS_TAKEN: AtomicBool = AtomicBool::new(false);
static IS_INSTALLED: AtomicBool = AtomicBool::new(false);

/// Installs the handler before the earlier handlers. To be called when the JVM has installed its
/// own handlers (from the event VMInit on); further calls do nothing. An error says why no load is recovered from.
pub fn install() -> Result<(), NotKnown> {
    arch::LOADS?;
    if IS_TAKEN.swap(true, AcqRel) {
        // Another thread is installing the handler, or has installed it.
        while !IS_INSTALLED.load(Acquire) {
            std::thread::yield_now();
        }
        return Ok(());
    }
    arch::prepare();
    Library::keep_own();
    for (signal, before) in FAULTS.into_iter().zip(&BEFORE.0) {
        // SAFETY: the old action is written before the new one can run. The new one has the mask
        // and the flags of the old one, so what the old one relies on holds.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut old);
            (*before.get()).write(old);
            let mut new = old;
            new.sa_sigaction = handler as *const () as usize;
            new.sa_flags |= libc::SA_SIGINFO;
            libc::sigaction(signal, &new, std::ptr::null_mut());
        }
    }
    IS_INSTALLED.store(true, Release);
    Ok(())
}

extern "C" fn handler(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives the context of the thread that runs here. Where a load that faulted goes on, the
    // code only sets one register, and jumps behind the load.
    if arch::resume(unsafe { &mut *context.cast() }) {
        return;
    }
    let Some(at) = FAULTS.iter().position(|&fault| fault == signal) else {
        return;
    };
    // SAFETY: written before this handler was installed.
    let before = unsafe { (*BEFORE.0[at].get()).assume_init_ref() };
    match before.sa_sigaction {
        libc::SIG_IGN => {}
        libc::SIG_DFL => {
            // SAFETY: back to the default; the instruction runs again, faults, and ends the
            // process as it would have without us.
            unsafe { libc::sigaction(signal, before, std::ptr::null_mut()) };
        }
        old if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: the action says that it is a handler of this form.
            let old: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                unsafe { std::mem::transmute(old) };
            old(signal, info, context);
        }
        old => {
            // SAFETY: the action says that it is a handler of this form.
            let old: extern "C" fn(c_int) = unsafe { std::mem::transmute(old) };
            old(signal);
        }
    }
}

/// A set of signals, as the kernel has it: signal 1 is the lowest bit.
type Signals = u64;

const FAULT_SIGNALS: Signals = 1 << (FAULTS[0] - 1) | 1 << (FAULTS[1] - 1);

/// Changes which signals the calling thread blocks, and returns which it blocked. The C library's function does the same,
/// with sets that are sixteen times as long, and takes longer.
fn change_mask(how: c_int, signals: Signals) -> Signals {
    let mut before: Signals = 0;
    let size = size_of::<Signals>();
    // SAFETY: the kernel reads and writes sets of our own, of this size.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, how, &signals, &mut before, size) };
    before
}

/// While the guard lives, reads of this library need not fear faults: they are of memory that stays mapped, or the calling
/// thread does not block the two signals, and faults reach the handler. A fault whose signal is blocked would end the
/// process.
///
/// Nothing in the memory of a process tells a handler which signals are blocked, and the system call that unblocks signals
/// takes as long as a dozen frames. So the first read of other memory unblocks them.
pub struct Guard {
    /// What the thread blocked; `None` as long as nothing was changed.
    before: Cell<Option<Signals>>,
    /// What stays mapped while the guard lives.
    pub(super) lasting: Lasting,
    /// How much may be read while the guard lives.
    pub(super) budget: Budget,
    /// The guard belongs to its thread.
    not_sent: PhantomData<*const ()>,
}

impl Guard {
    /// A guard that knows of no memory that stays mapped. Async-signal-safe.
    #[inline]
    pub fn set() -> Guard {
        Guard {
            before: Cell::new(None),
            lasting: Lasting::nothing(),
            budget: Budget::new(),
            not_sent: PhantomData,
        }
    }

    /// Unblocks the two signals.
    #[cold]
    pub(super) fn unblock(&self) {
        if self.before.get().is_none() {
            let before = change_mask(libc::SIG_UNBLOCK, FAULT_SIGNALS);
            self.before.set(Some(before));
            self.lasting.is_everything();
        }
    }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        if let Some(before) = self.before.get()
            && before & FAULT_SIGNALS != 0
        {
            change_mask(libc::SIG_SETMASK, before);
        }
    }
}
