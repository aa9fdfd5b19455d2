//! Threads that run one instruction at a time.
//!
//! While the trap flag of a thread is set, the processor traps behind each instruction, and the kernel
//! sends SIGTRAP. The flag is in the context of the signal, so the handler decides whether the next
//! instruction traps too. In handlers of other signals the kernel clears the flag, and sets it again when
//! the handler returns.

use crate::jvm::arch;
use crate::jvm::os::signal::HandlerContext;
use std::ffi::{c_int, c_void};
use std::io;
use std::ptr;
use std::sync::OnceLock;

/// What a thread does next.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Next {
    /// It runs one instruction.
    Step,
    /// It runs on.
    Run,
}

/// Why the handler runs.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Trap {
    /// An instruction was run.
    Stepped,
    /// The thread itself has called [`trap`], which returns next.
    Called(Next),
}

/// What the handler does.
pub type OnTrap = fn(&HandlerContext<'_>, Trap) -> Next;

struct Installed {
    on_trap: OnTrap,
    /// The handler that was there before.
    earlier: libc::sigaction,
}

static INSTALLED: OnceLock<Installed> = OnceLock::new();

/// `si_code` of a breakpoint instruction.
const SI_KERNEL: c_int = 0x80;

/// `si_code` of the trap behind an instruction (`TRAP_TRACE`).
const TRAP_TRACE: c_int = 2;

/// Whether threads can run one instruction at a time on this processor.
pub fn is_possible() -> bool {
    arch::has_trap_flag()
}

/// Installs the handler. To be called once. The handler stays installed, because a trap may be late.
pub fn install(on_trap: OnTrap) -> io::Result<()> {
    // SAFETY: the handler is async-signal-safe; `action` is fully set.
    unsafe {
        let mut earlier: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGTRAP, ptr::null(), &mut earlier) != 0 {
            return Err(io::Error::last_os_error());
        }
        let installed = Installed { on_trap, earlier };
        INSTALLED
            .set(installed)
            .map_err(|_| io::Error::other("traps have a handler already"))?;
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        // No other handler runs on top of this one, except for the faults by which the VM reads memory
        // that may be absent.
        libc::sigfillset(&mut action.sa_mask);
        for fault in [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGFPE,
            libc::SIGILL,
            libc::SIGTRAP,
        ] {
            libc::sigdelset(&mut action.sa_mask, fault);
        }
        match libc::sigaction(libc::SIGTRAP, &action, ptr::null_mut()) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Traps in the calling thread: the handler runs, and the thread does `next`.
pub fn trap(next: Next) {
    arch::breakpoint(usize::from(next == Next::Step));
}

extern "C" fn handler(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives valid pointers, which live until this returns; errno is this thread's.
    unsafe {
        let errno = *libc::__errno_location();
        let raw = context.cast::<libc::ucontext_t>();
        let Some(installed) = INSTALLED.get() else {
            return;
        };
        let code = (*info).si_code;
        let called = match code {
            SI_KERNEL => arch::breakpoint_argument(&*raw),
            _ => None,
        };
        let next = match (code, called) {
            (TRAP_TRACE, _) => {
                let context = HandlerContext::of(&*raw);
                Some((installed.on_trap)(&context, Trap::Stepped))
            }
            (_, Some(argument)) => {
                let next = if argument == 1 { Next::Step } else { Next::Run };
                let context = HandlerContext::of(&*raw);
                Some((installed.on_trap)(&context, Trap::Called(next)))
            }
            _ => None,
        };
        match next {
            Some(next) => arch::set_trap_flag(&mut *raw, next == Next::Step),
            None => call_earlier(&installed.earlier, signal, info, context),
        }
        *libc::__errno_location() = errno;
    }
}

/// The handler that was there before gets the signal.
///
/// # Safety
/// The arguments must be those of the signal's handler.
pub(super) unsafe fn call_earlier(
    earlier: &libc::sigaction,
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    // SAFETY: `sa_sigaction` is a handler of the kind that the flags say, or one of the two constants.
    unsafe {
        match earlier.sa_sigaction {
            libc::SIG_IGN => {}
            libc::SIG_DFL => {
                // The process ends with this signal, as it would have without us.
                libc::sigaction(signal, earlier, ptr::null_mut());
                libc::raise(signal);
            }
            function if earlier.sa_flags & libc::SA_SIGINFO != 0 => {
                type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
                std::mem::transmute::<usize, Handler>(function)(signal, info, context);
            }
            function => std::mem::transmute::<usize, extern "C" fn(c_int)>(function)(signal),
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    static STEPS: AtomicUsize = AtomicUsize::new(0);

    fn on_trap(_: &HandlerContext<'_>, trap: Trap) -> Next {
        match trap {
            Trap::Called(next) => next,
            Trap::Stepped => {
                STEPS.fetch_add(1, Relaxed);
                Next::Step
            }
        }
    }

    #[test]
    fn each_instruction_between_two_traps_is_seen() {
        install(on_trap).expect("no other handler");
        trap(Next::Step);
        trap(Next::Run);
        let few = STEPS.swap(0, Relaxed);
        assert!((1..1000).contains(&few), "{few}");
        trap(Next::Step);
        let sum: usize = (0..std::hint::black_box(1000))
            .map(std::hint::black_box)
            .sum();
        trap(Next::Run);
        let many = STEPS.swap(0, Relaxed);
        assert!(many > 1000, "{many} steps to {sum}");
        let sum: usize = (0..std::hint::black_box(1000))
            .map(std::hint::black_box)
            .sum();
        assert_eq!((STEPS.load(Relaxed), sum), (0, 499_500));
    }
}
