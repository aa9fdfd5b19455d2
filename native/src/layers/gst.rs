//! Layer `gst`: GetStackTrace of the calling thread, held against its trace stack.

use super::context::Layers;
use super::path::{Check, nothing_more};
use crate::evidence::Seen;
use crate::jvm::jni::Env;
use crate::truth::thread_state::ThreadState;
use crate::truth::trace_stack::StackCopy;
use oracle::mutants::Sight;
use oracle::trace::{Frame, Methods};
use oracle::{Layer, Verdict};

/// Checks `gst`, the answer for the calling thread, against `copy`, its trace stack. What agrees
/// is recorded on the trace stack: from then on the whole stack is known up to here.
pub fn check(layers: &Layers, state: &ThreadState, env: Env<'_>, gst: &[Frame], copy: &StackCopy) {
    let methods = &layers.truth.methods;
    let hooks: Vec<_> = copy.hooks().collect();
    let leaving = copy.leaving(|called, hook| methods.is_left_by(called, hook));
    let truth = copy.truth(&hooks, &leaving);
    let check = Check {
        layer: Layer::Gst,
        env,
        tid: state.tid(),
        seen: Seen::Plainly,
        sight: &Sight::Truth(&truth, methods),
        reference: &[truth.checked],
        evidence: &nothing_more,
    };
    let honest = check.go(layers, gst);
    if matches!(honest.verdict, Verdict::Match | Verdict::Window) {
        let own = gst.iter();
        let own = own
            .take_while(|frame| methods.is_hook_call(frame.method))
            .count();
        state.stack().record(&gst[own..]);
    }
}
