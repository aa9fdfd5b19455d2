//! `signal-handler`: a profiler's signal interrupts the handler of another signal, and the walk loses the code that this handler
//! had interrupted.

use super::cause::{Cause, OF_PROFILERS};
use crate::capability::Capability;
use crate::case::Facts;
use crate::code::CodeKind;

pub(super) const CAUSE: Cause = Cause {
    name: "signal-handler",
    meaning: "the handler of another signal runs, and the walk loses the code that it had interrupted",
    why: "The profiler's signal has interrupted the handler of another signal, such as async-profiler's own for SIGSEGV (OS::replaceCrashHandler in src/os_linux.cpp), which does not block it. The walker follows the frame pointers of the handler to the caller of the interrupted code, because the kernel's frame between them is no frame of a call.",
    sources: &[],
    proof: "The kernel's frame on the stack, with a program counter in generated code, above all Java frames; the program counter in a library; and a walk that lacks frames of the top.",
    notes: "async-profiler's handler passes the faults of implicit null checks on to the JVM, whose own handlers block all signals. With `cstack=no` and `fp` AsyncGetCallTrace follows the frame pointers (`find_initial_Java_frame` in `forte.cpp`), and the caller of the method that ran is the top; with `cstack=vm` the stack is empty. Fixture: `implicit-exceptions`.",
    recognise,
    needs: &[Capability::CodeCache],
    since: 0,
    programs: Err(OF_PROFILERS),
};

fn recognise(facts: &Facts<'_>) -> bool {
    facts.case.proofs.is_in_signal_handler && facts.runs(CodeKind::Library) && facts.lacks_top()
}
