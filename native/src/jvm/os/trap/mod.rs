//! Threads that run one instruction at a time.
//!
//! While the trap flag of a thread is set, the processor traps behind each instruction, and the kernel
//! sends SIGTRAP. The flag is in the context of the signal, so the handler decides whether the next
//! instruction traps too. In handlers of other signals the kernel clears the flag, and sets it again when
//! the handler returns.
//!
//! A trap takes long where the processor is a virtual one. So the handler itself runs the instructions that
//! follow, by copies of them, on the registers and on the stack of the thread (`crate::arch`). The handler runs
//! on a stack of its own for each thread (`stack`), and returns to the kernel for each instruction that has no copy, and
//! every `MOST_COPIES` instructions, so that other signals are delivered. A walker that crashes in the handler
//! does not end the process ([`guarded`]). System calls are made in a [`crossing`].

pub mod crossing;
mod guard;
mod stack;

pub use guard::guarded;

use crate::arch::{self, Copies};
use crate::jvm::os::earlier::{self, call_earlier};
use crate::jvm::os::signal::HandlerContext;
use crate::jvm::os::thread_owned::ThreadOwned;
use hotspot::arch::NotKnown;
use stack::OwnStacks;
use std::ffi::{c_int, c_void};
use std::io;
use std::ptr;
use std::sync::OnceLock;

/// What a thread does next.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Next {
    /// It runs one instruction.
    Step,
    /// It handles the signals that wait for it, and runs one instruction.
    Deliver,
    /// It runs on.
    Run,
    /// It makes its system call in this crossing, runs on in the kernel, and traps behind.
    Cross(usize),
}

/// Why the handler runs.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Trap {
    /// An instruction was run, or has faulted and led elsewhere.
    Stepped,
    /// The thread has come back from the kernel in this crossing, which it gives back.
    Crossed(usize),
    /// The thread itself has called [`trap`], which returns next.
    Called(Next),
}

/// What the handler does.
pub type OnTrap = fn(&HandlerContext<'_>, Trap) -> Next;

struct Installed {
    on_trap: OnTrap,
    /// What runs the copies of instructions, for one thread at a time.
    copies: ThreadOwned<Copies>,
    /// The stacks of the handler.
    stacks: OwnStacks,
    /// The handler that was there before.
    earlier: libc::sigaction,
}

/// So many instructions run by their copies at most before the handler returns.
const MOST_COPIES: usize = 500;

static INSTALLED: OnceLock<Installed> = OnceLock::new();

/// `si_code` of a breakpoint instruction.
const SI_KERNEL: c_int = 0x80;

/// `si_code` of the trap behind an instruction (`TRAP_TRACE`).
const TRAP_TRACE: c_int = 2;

/// `si_code` of a debug exception for which the processor gives no reason (`TRAP_BRKPT`). Some virtual processors lose the
/// reason of the trap behind an instruction (DR6.BS), once in many millions of steps.
const TRAP_BRKPT: c_int = 1;

/// Whether threads can run one instruction at a time on this architecture.
pub fn is_possible() -> Result<(), NotKnown> {
    arch::traps()
}

/// Installs the handler. To be called once. The handler stays installed, because a trap may be late.
pub fn install(on_trap: OnTrap) -> io::Result<()> {
    let earlier = earlier::find(libc::SIGTRAP)?;
    // SAFETY: the handler is async-signal-safe; `action` is fully set.
    unsafe {
        guard::install(led_elsewhere)?;
        let installed = Installed {
            on_trap,
            copies: ThreadOwned::new(Copies::new()?),
            stacks: OwnStacks::new(),
            earlier,
        };
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

/// The calling thread will step. If it is one of too many, each of its instructions traps. Not in handlers.
pub fn prepare() -> bool {
    INSTALLED
        .get()
        .is_some_and(|installed| installed.stacks.get())
}

/// The calling thread will not step on, which its handler of traps returns next. To be called before another thread may step: that
/// thread finds the copies free, so it never steps without them. Async-signal-safe.
pub fn end() {
    if let Some(installed) = INSTALLED.get() {
        installed.copies.give_back();
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
        match reason((*info).si_code, &mut *raw) {
            Some(trap) => installed.trapped(&mut *raw, trap),
            None => call_earlier(&installed.earlier, signal, info, context),
        }
        *libc::__errno_location() = errno;
    }
}

/// Why the thread of `context` has trapped, with this `si_code`; `None` if the trap is not ours.
fn reason(code: c_int, context: &mut libc::ucontext_t) -> Option<Trap> {
    match code {
        TRAP_TRACE => Some(Trap::Stepped),
        TRAP_BRKPT if arch::has_trap_flag_set(context) => Some(Trap::Stepped),
        SI_KERNEL => match arch::breakpoint_argument(context) {
            Some(1) => Some(Trap::Called(Next::Step)),
            Some(_) => Some(Trap::Called(Next::Run)),
            None => crossing::leave(context).map(Trap::Crossed),
        },
        _ => None,
    }
}

/// An instruction of the thread has faulted, and the VM's handler lets the thread go on in `context`. If the thread
/// steps, the handler of traps runs: the first instruction there would run without it.
///
/// # Safety
/// `context` must be that of a signal whose handler the calling thread runs.
unsafe fn led_elsewhere(context: &mut libc::ucontext_t) {
    if let Some(installed) = INSTALLED.get()
        && arch::has_trap_flag_set(context)
    {
        // SAFETY: as the caller promised.
        unsafe { installed.trapped(context, Trap::Stepped) };
    }
}

impl Installed {
    /// The thread has trapped in `context`.
    ///
    /// # Safety
    /// `context` must be that of a signal whose handler the calling thread runs.
    unsafe fn trapped(&self, context: &mut libc::ucontext_t, trap: Trap) {
        // SAFETY: as the caller promised.
        let ask = |context: &libc::ucontext_t, trap| unsafe {
            let errno = *libc::__errno_location();
            let next = (self.on_trap)(&HandlerContext::of(context), trap);
            // The thread may have changed its own errno since the handler began.
            *libc::__errno_location() = errno;
            next
        };
        let mut next = ask(context, trap);
        if next == Next::Step && trap == Trap::Stepped && stack::is_in_use(context) {
            for _ in 0..MOST_COPIES {
                // SAFETY: the handler runs on its own stack, so the thread's is free for its instructions.
                let run = |copies: &mut Copies| unsafe { copies.run(context) };
                if self.copies.with(run) != Some(true) {
                    break;
                }
                next = ask(context, Trap::Stepped);
                if next != Next::Step {
                    break;
                }
            }
        }
        arch::set_trap_flag(context, matches!(next, Next::Step | Next::Deliver));
        self.choose_stack(context, next);
        if let Next::Cross(crossing) = next {
            crossing::enter(context, crossing);
        }
    }

    /// The next trap of a thread that steps finds its handler on the handler's own stack.
    fn choose_stack(&self, context: &mut libc::ucontext_t, next: Next) {
        match next {
            Next::Step | Next::Deliver if self.copies.take() => self.stacks.enter(context),
            Next::Step | Next::Deliver => {}
            Next::Run | Next::Cross(_) => {
                self.stacks.leave(context);
                self.copies.give_back();
            }
        }
    }
}

#[cfg(test)]
mod tests;
