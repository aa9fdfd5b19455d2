//! Faults in the handler of traps.
//!
//! * A walker that crashes: it reads what it takes for frames, and a wrong guess may lead it to memory that is absent. The
//!   process would end. Here the walk ends instead, and counts as crashed.
//! * The copy of an instruction faults: the thread runs the instruction itself, and faults in its own code, as the VM
//!   expects.

use crate::arch::{self, leave_guarded, resume_behind_copy, run_guarded};
use crate::jvm::os::earlier::{self, call_earlier};
use crate::jvm::os::thread::id;
use hotspot::arch::{Arch, Native};
use std::ffi::{c_int, c_void};
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI32, AtomicUsize};
use vm::memory::kernel::peek;

/// The thread that walks; 0 if none does.
static WALKS: AtomicI32 = AtomicI32::new(0);

/// The program counter of the last crash.
static CRASHED_AT: AtomicUsize = AtomicUsize::new(0);

/// Runs `walk` on the calling thread, whose id is `tid`. `Err` has the program counter at which the walk has
/// crashed. One thread at a time is guarded: others just run `walk`. Async-signal-safe if `walk` is.
///
/// # Safety
/// `walk` may end at any instruction, so it must keep no lock and own no memory.
pub unsafe fn guarded<R>(tid: i32, walk: impl FnOnce() -> R) -> Result<R, usize> {
    struct Call<F, R>(Option<F>, Option<R>);
    extern "C" fn run<F: FnOnce() -> R, R>(call: *mut c_void) {
        // SAFETY: the call below, which lives until this returns.
        let Call(walk, result) = unsafe { &mut *call.cast::<Call<F, R>>() };
        *result = walk.take().map(|walk| walk());
    }
    fn run_of<F: FnOnce() -> R, R>(_: &Call<F, R>) -> extern "C" fn(*mut c_void) {
        run::<F, R>
    }
    if WALKS.compare_exchange(0, tid, Acquire, Relaxed).is_err() {
        return Ok(walk());
    }
    let mut call = Call(Some(walk), None);
    let run = run_of(&call);
    // SAFETY: only this thread has come here, and the rest is as the caller promised.
    let has_ended = unsafe { run_guarded(run, (&raw mut call).cast()) };
    WALKS.store(0, Release);
    match call.1 {
        Some(result) if has_ended => Ok(result),
        _ => Err(CRASHED_AT.load(Relaxed)),
    }
}

/// If a walk has crashed in `context`: the walk ends. Async-signal-safe.
fn end_walk(context: &mut libc::ucontext_t) -> bool {
    let walks = WALKS.load(Relaxed);
    if walks == 0 || walks != id() {
        return false;
    }
    let pc = arch::registers(context).pc;
    if vm::memory::recovers_at(pc) {
        return false;
    }
    // The VM itself goes on behind such a read.
    let code = peek::<u64>(pc).unwrap_or(0).to_le_bytes();
    if Native::is_safe_fetch(&code) == Ok(true) {
        return false;
    }
    CRASHED_AT.store(pc, Relaxed);
    leave_guarded(context);
    true
}

/// The faults that the VM makes use of, and the handlers that were there before.
static EARLIER: [(c_int, OnceLock<libc::sigaction>); 3] = [
    (libc::SIGSEGV, OnceLock::new()),
    (libc::SIGBUS, OnceLock::new()),
    (libc::SIGFPE, OnceLock::new()),
];

/// What a handler calls if the earlier handler lets the thread go on elsewhere.
///
/// # Safety
/// The context must be that of a signal whose handler the calling thread runs.
type LedElsewhere = unsafe fn(&mut libc::ucontext_t);

static LED_ELSEWHERE: OnceLock<LedElsewhere> = OnceLock::new();

/// Installs a handler before each handler that is there. To be called once.
pub fn install(led_elsewhere: LedElsewhere) -> io::Result<()> {
    LED_ELSEWHERE.get_or_init(|| led_elsewhere);
    for (signal, earlier) in &EARLIER {
        let found = earlier::find(*signal)?;
        let before = earlier.get_or_init(|| found);
        // SAFETY: the handler is async-signal-safe.
        unsafe { earlier::replace(*signal, before, handler as *const () as usize) }?;
    }
    Ok(())
}

extern "C" fn handler(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives valid pointers, which live until this returns.
    unsafe {
        let raw = &mut *context.cast::<libc::ucontext_t>();
        if resume_behind_copy(raw) || end_walk(raw) {
            return;
        }
        let mut all = EARLIER.iter();
        let earlier = all.find(|(of, _)| *of == signal);
        if let Some(earlier) = earlier.and_then(|(_, earlier)| earlier.get()) {
            let pc = arch::registers(raw).pc;
            call_earlier(earlier, signal, info, context);
            if arch::registers(raw).pc != pc
                && let Some(led_elsewhere) = LED_ELSEWHERE.get()
            {
                led_elsewhere(raw);
            }
        }
    }
}
