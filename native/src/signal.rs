//! The signal and its handler.
//!
//! The handler calls async-signal-safe code only: it allocates nothing, locks nothing, waits
//! for nobody, cannot panic, does a bounded amount of work and keeps `errno`.

use crate::agent::Agent;
use crate::sample::{Inner, Outcome, Sample, Ticket};
use crate::threads::ThreadState;
use crate::trace_stack::{StackCopy, TraceStack};
use crate::vm::java_thread::JavaThreads;
use oracle::tally::Drop;
use std::ffi::{c_int, c_void};
use std::io;
use std::ptr;
use std::sync::OnceLock;

/// How many samples may be under way: one, and those whose thread answers late.
pub const SAMPLES: usize = 64;

static SHARED: OnceLock<Vec<Sample>> = OnceLock::new();

/// The samples, made on first use.
pub fn samples() -> io::Result<&'static [Sample]> {
    if let Some(samples) = SHARED.get() {
        return Ok(samples);
    }
    let made = (0..SAMPLES)
        .map(|_| Sample::new())
        .collect::<io::Result<Vec<_>>>()?;
    Ok(SHARED.get_or_init(|| made))
}

/// Our signal: a real-time one, which carries a word and leaves SIGPROF to profilers.
pub fn number() -> c_int {
    libc::SIGRTMIN() + 7
}

/// Installs the handler. It stays for good: a signal may be late.
pub fn install() -> io::Result<()> {
    samples()?;
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

/// Sends the signal to thread `tid`, with the sample's place and ticket.
pub fn send(tid: i32, sample: usize, ticket: Ticket) -> io::Result<()> {
    // SAFETY: `info` is a whole siginfo_t.
    let status = unsafe {
        let info = QueuedInfo {
            signal: number(),
            errno: 0,
            code: libc::SI_QUEUE,
            padding: 0,
            pid: libc::getpid(),
            uid: libc::getuid(),
            value: (sample as u64) << 32 | u64::from(ticket.to_raw()),
            rest: [0; 96],
        };
        libc::syscall(
            libc::SYS_rt_tgsigqueueinfo,
            libc::getpid(),
            tid,
            number(),
            &raw const info,
        )
    };
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

extern "C" fn handler(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives valid pointers; errno is this thread's.
    unsafe {
        let errno = *libc::__errno_location();
        let info = &*info.cast::<QueuedInfo>();
        if info.code == libc::SI_QUEUE
            && let Some(sample) = SHARED
                .get()
                .and_then(|s| s.get((info.value >> 32) as usize))
        {
            sample.take(Ticket::from_raw(info.value as u32), |inner| {
                fill(inner, context)
            });
        }
        *libc::__errno_location() = errno;
    }
}

/// Walks the calling thread and copies its trace stack.
fn fill(inner: &mut Inner, context: *mut c_void) {
    let target = match ThreadState::current() {
        Some(state) if ptr::eq(state, inner.target) => state,
        _ => {
            inner.outcome = Outcome::OtherThread;
            return;
        }
    };
    let carrier = target.carrier_stack();
    inner.carried = carrier.is_some();
    inner.copied = copy(target.stack(), &mut inner.stack);
    if let (Ok(()), Some(carrier)) = (inner.copied, carrier) {
        inner.copied = copy(carrier, &mut inner.carrier);
    }
    inner.registers = registers(context);
    let Some(agent) = Agent::get() else {
        inner.outcome = Outcome::OtherThread;
        return;
    };
    // SAFETY: this thread's environment.
    let anchor = |threads: &JavaThreads| unsafe { threads.anchor(target.env()) };
    inner.anchor = agent.java_threads.as_ref().and_then(anchor);
    let (frames, capacity) = inner.buffer();
    inner.outcome = match agent.asgct {
        Some(asgct) => {
            // SAFETY: the environment, the buffer and the context are this thread's.
            let walked = unsafe { asgct.walk(target.env(), frames, capacity, context) };
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

/// Program counter, stack pointer and frame pointer of the interrupted code.
fn registers(context: *mut c_void) -> [usize; 3] {
    // SAFETY: the kernel gives a valid context.
    let context = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
    #[cfg(target_arch = "x86_64")]
    {
        let at = |register: c_int| context.gregs[register as usize] as usize;
        [at(libc::REG_RIP), at(libc::REG_RSP), at(libc::REG_RBP)]
    }
    #[cfg(target_arch = "aarch64")]
    {
        [
            context.pc as usize,
            context.sp as usize,
            context.regs[29] as usize,
        ]
    }
}
