//! Faults in the handler of traps. If the copy of an instruction faults, the thread runs the instruction itself,
//! and faults in its own code, as the VM expects. If a walker faults, its walk ends.

use super::guard::end_walk;
use crate::arch::{self, resume_behind_copy};
use crate::jvm::os::earlier::{self, call_earlier};
use std::ffi::{c_int, c_void};
use std::io;
use std::sync::OnceLock;

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
pub type LedElsewhere = unsafe fn(&mut libc::ucontext_t);

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
