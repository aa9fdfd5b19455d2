//! The program counter of a signal's context.

use super::loads::resumption;

/// Lets the interrupted thread go on behind a load of this library that has faulted. Returns whether it was one.
/// Async-signal-safe.
pub fn resume(context: &mut libc::ucontext_t) -> bool {
    let pc = &mut context.uc_mcontext.gregs[libc::REG_RIP as usize];
    let resumption = resumption(*pc as usize);
    if let Some(resumption) = resumption {
        *pc = resumption as i64;
    }
    resumption.is_some()
}
