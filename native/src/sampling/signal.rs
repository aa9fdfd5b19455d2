//! The signal and its handler.
//!
//! The handler calls async-signal-safe code only: it allocates nothing, locks nothing, waits
//! for nobody, cannot panic, does a bounded amount of work and keeps `errno`.

use crate::agent::Agent;
use crate::jvm::java_thread::JavaThreads;
use crate::sampling::asking::{self, Depth, Order, Ticket};
use crate::sampling::sample::{Outcome, Sample};
use crate::truth::threads::ThreadState;
use crate::truth::trace_stack::{StackCopy, TraceStack};
use hotspot::arch::Registers;
use oracle::tally::Drop;
use std::ffi::{c_int, c_void};
use std::io;
use std::ptr;

/// Our signal: a real-time one, which carries a word and leaves SIGPROF to profilers.
pub fn number() -> c_int {
    libc::SIGRTMIN() + 7
}

/// Installs the handler. It stays for good: a signal may be late.
pub fn install() -> io::Result<()> {
    // SAFETY: the handler is async-signal-safe; `action` is fully set.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigemptyset(&mut action.sa_mask);
        let mut old: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(number(), &action, &mut old) != 0 {
            return Err(io::Error::last_os_error());
        }
        if old.sa_sigaction != libc::SIG_DFL {
            libc::sigaction(number(), &old, ptr::null_mut());
            return Err(io::Error::other(format!("signal {} is in use", number())));
        }
    }
    Ok(())
}

/// What the kernel hands over with `rt_tgsigqueueinfo`; laid out as `siginfo_t` on 64-bit
/// Linux.
#[repr(C)]
struct QueuedInfo {
    signal: c_int,
    errno: c_int,
    code: c_int,
    padding: c_int,
    pid: c_int,
    uid: u32,
    value: u64,
    rest: [u8; 96],
}
const _: () = assert!(size_of::<QueuedInfo>() == size_of::<libc::siginfo_t>());

/// Who sends: system calls to ask for once.
#[derive(Copy, Clone)]
pub struct Post {
    pid: i32,
    uid: u32,
}

impl Post {
    /// This process.
    pub fn new() -> Post {
        // SAFETY: no preconditions.
        let (pid, uid) = unsafe { (libc::getpid(), libc::getuid()) };
        Post { pid, uid }
    }

    /// Sends the signal to thread `tid`.
    pub fn send(self, tid: i32, ticket: Ticket) -> io::Result<()> {
        // SAFETY: `info` is a whole siginfo_t.
        let status = unsafe {
            let info = QueuedInfo {
                signal: number(),
                errno: 0,
                code: libc::SI_QUEUE,
                padding: 0,
                pid: self.pid,
                uid: self.uid,
                value: ticket.to_raw(),
                rest: [0; 96],
            };
            libc::syscall(
                libc::SYS_rt_tgsigqueueinfo,
                self.pid,
                tid,
                number(),
                &raw const info,
            )
        };
        match status {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

extern "C" fn handler(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives valid pointers; errno is this thread's.
    unsafe {
        let errno = *libc::__errno_location();
        let info = &*info.cast::<QueuedInfo>();
        if info.code == libc::SI_QUEUE {
            asking::answer(Ticket::from_raw(info.value), |order| fill(order, context));
        }
        *libc::__errno_location() = errno;
    }
}

/// Fills in the sample of the calling thread.
fn fill(order: &mut Order, context: *mut c_void) {
    let sample = &mut order.sample;
    let (Some(agent), Some(state)) = (Agent::get(), ThreadState::current()) else {
        sample.outcome = Outcome::OtherThread;
        return;
    };
    if !ptr::eq(state, order.target) {
        sample.outcome = Outcome::OtherThread;
        return;
    }
    if order.depth == Depth::Check {
        copy_truth(state, sample);
        sample.registers = registers(context);
        // SAFETY: this thread's stack. Pages at and above the stack pointer are in use, so the guard
        // pages and what the kernel has not given yet lie below it.
        unsafe {
            sample
                .stack_top
                .copy(sample.registers.sp, &state.stack_range())
        };
        // SAFETY: this thread's environment.
        let anchor = |threads: &JavaThreads| unsafe { threads.anchor(state.env()) };
        sample.anchor = agent.java_threads.as_ref().and_then(anchor);
    }
    walk(agent, state, sample, context);
}

/// Copies the trace stack.
fn copy_truth(state: &ThreadState, sample: &mut Sample) {
    let carrier = state.carrier_stack();
    sample.carried = carrier.is_some();
    sample.copied = copy(state.stack(), &mut sample.stack);
    if let (Ok(()), Some(carrier)) = (sample.copied, carrier) {
        sample.copied = copy(carrier, &mut sample.carrier);
    }
}

/// Walks the calling thread.
fn walk(agent: &Agent, state: &ThreadState, sample: &mut Sample, context: *mut c_void) {
    let (frames, capacity) = sample.buffer();
    sample.outcome = match agent.asgct {
        Some(asgct) => {
            // SAFETY: the environment, the buffer and the context are this thread's.
            let walked = unsafe { asgct.walk(state.env(), frames, capacity, context) };
            Outcome::Walked(walked)
        }
        None => Outcome::OtherThread,
    };
}

fn copy(stack: &TraceStack, copy: &mut StackCopy) -> Result<(), Drop> {
    match stack.copy_to(copy) {
        Some(()) => Ok(()),
        None if stack.is_whole() => Err(Drop::TooDeep),
        None => Err(Drop::TraceStackFull),
    }
}

/// The registers of the interrupted code.
fn registers(context: *mut c_void) -> Registers {
    // SAFETY: the kernel gives a valid context.
    let context = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
    #[cfg(target_arch = "x86_64")]
    {
        let at = |register: c_int| context.gregs[register as usize] as usize;
        Registers {
            pc: at(libc::REG_RIP),
            sp: at(libc::REG_RSP),
            fp: at(libc::REG_RBP),
            link: None,
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        Registers {
            pc: context.pc as usize,
            sp: context.sp as usize,
            fp: context.regs[29] as usize,
            link: Some(context.regs[30] as usize),
        }
    }
}
