//! System calls of threads that step. The kernel may let a thread wait for long, and handlers of other signals
//! must run meanwhile. So the thread does not step there: it makes its system call at an address of ours, a
//! crossing, runs on freely, and traps behind. Then it goes on where it would have gone on.

use crate::arch;
pub use crate::arch::CROSSINGS;
use std::ffi::{c_int, c_long};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use vm::memory::kernel::peek;

/// The crossings.
static ALL: [Crossing; CROSSINGS] = [const { Crossing::new() }; CROSSINGS];

struct Crossing {
    is_taken: AtomicBool,
    /// Where the thread goes on.
    behind: AtomicUsize,
}

impl Crossing {
    const fn new() -> Crossing {
        Crossing {
            is_taken: AtomicBool::new(false),
            behind: AtomicUsize::new(0),
        }
    }
}

/// Takes a crossing for the system call with this number and these arguments, which the calling thread is about to
/// make. `None` if all are taken, or if the call is one that must not trap behind. Async-signal-safe.
pub fn take([number, how, set]: [usize; 3]) -> Option<usize> {
    if !may_trap_behind(number as c_long, how as c_int, set) {
        return None;
    }
    ALL.iter().position(|crossing| {
        let taken = crossing
            .is_taken
            .compare_exchange(false, true, Acquire, Relaxed);
        taken.is_ok()
    })
}

/// The calling thread gives its crossing back, behind it. Async-signal-safe.
pub fn give_back(crossing: usize) {
    if let Some(crossing) = ALL.get(crossing) {
        crossing.is_taken.store(false, Release);
    }
}

/// The thread of `context` makes its system call in the crossing that it has taken.
pub(super) fn enter(context: &mut libc::ucontext_t, crossing: usize) {
    let behind = arch::enter_crossing(context, crossing);
    if let Some(crossing) = ALL.get(crossing) {
        crossing.behind.store(behind, Relaxed);
    }
}

/// The crossing that the thread of `context` has left, which goes on where it would have gone on.
pub(super) fn leave(context: &mut libc::ucontext_t) -> Option<usize> {
    let crossing = arch::crossing_left(context)?;
    arch::leave_crossing(context, ALL.get(crossing)?.behind.load(Relaxed));
    Some(crossing)
}

/// Whether a thread that makes this system call comes back alone, and with SIGTRAP.
fn may_trap_behind(number: c_long, how: c_int, set: usize) -> bool {
    match number {
        libc::SYS_clone | libc::SYS_clone3 => false,
        number if arch::FORKS.contains(&number) => false,
        libc::SYS_execve | libc::SYS_execveat | libc::SYS_exit | libc::SYS_exit_group => false,
        libc::SYS_rt_sigreturn => false,
        libc::SYS_rt_sigprocmask if set != 0 && how != libc::SIG_UNBLOCK => {
            const TRAP: u64 = 1 << (libc::SIGTRAP - 1);
            peek::<u64>(set).is_some_and(|blocked| blocked & TRAP == 0)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_start_or_end_a_thread_or_block_the_trap_are_made_in_place() {
        let of = |number: c_long, how: c_int, set: &u64| {
            let set = std::ptr::from_ref(set).addr();
            may_trap_behind(number, how, set)
        };
        assert!(of(libc::SYS_futex, 0, &0));
        assert!(!of(libc::SYS_clone3, 0, &0));
        assert!(!of(libc::SYS_exit, 0, &0));
        assert!(of(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &1));
        assert!(!of(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &u64::MAX));
        assert!(of(libc::SYS_rt_sigprocmask, libc::SIG_UNBLOCK, &u64::MAX));
    }
}
