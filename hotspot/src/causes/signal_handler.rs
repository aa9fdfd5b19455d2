//! `signal-handler`: a profiler's signal interrupts the handler of another signal, and the walk loses the code that this handler
//! had interrupted.
//!
//! A handler that does not block the profiler's signal can be sampled itself. async-profiler has one for SIGSEGV
//! (`OS::replaceCrashHandler`, src/os_linux.cpp: an empty mask), which passes the faults of implicit null checks on to the JVM.
//! The kernel's frame between the handler and the code that faulted is no frame of a call: AsyncGetCallTrace follows the frame
//! pointers of the handler to that of the interrupted code, and takes its caller for the newest Java frame
//! (`find_initial_Java_frame`, src/hotspot/share/prims/forte.cpp).
//!
//! The proof is the kernel's frame on the stack, with a program counter in generated code, above all Java frames; the program
//! counter in a library; and a walk that lacks frames of the top.

use super::cause::{Cause, OF_PROFILERS};
use crate::capability::Capability;
use crate::case::Facts;
use crate::code::CodeKind;

pub(super) const CAUSE: Cause = Cause {
    name: "signal-handler",
    meaning: "the handler of another signal runs, and the walk loses the code that it had interrupted",
    why: "The profiler's signal has interrupted the handler of another signal, such as async-profiler's own for SIGSEGV (OS::replaceCrashHandler in src/os_linux.cpp), which does not block it. The walker follows the frame pointers of the handler to the caller of the interrupted code, because the kernel's frame between them is no frame of a call.",
    sources: &[],
    recognise,
    needs: &[Capability::CodeCache],
    since: 0,
    programs: Err(OF_PROFILERS),
};

fn recognise(facts: &Facts<'_>) -> bool {
    facts.case.proofs.is_in_signal_handler && facts.runs(CodeKind::Library) && facts.lacks_top()
}
