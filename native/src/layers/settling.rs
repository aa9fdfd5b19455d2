//! Trace stacks in doubt, settled by GetStackTrace.
//!
//! HotSpot ends compiled frames without looking at their handlers where the thread's stack is
//! nearly full (`OptoRuntime::handle_exception_C`, `exception_handler_for_pc` of C1). So a
//! StackOverflowError ends frames without a hook. Mostly the hook at the handler that catches the
//! error sets the trace stack right. Where code without hooks caught the error, the next push asks
//! GetStackTrace. The answer is taken only if the active frames are on the trace stack in their
//! order. One look is enough: the next push finds no doubt, or one that cannot be settled.

use super::at_check;
use super::context::Layers;
use crate::jvm::jni::Env;
use crate::truth::thread_state::ThreadState;
use oracle::trace::{Frame, HookId, Methods, Presence};

/// Settles the doubt of the calling thread's trace stack, if that can be done. Before a push;
/// `layers` is given once the agent is up.
#[cold]
pub fn before_push(layers: Option<&Layers>, state: &ThreadState, env: Env<'_>) {
    let layers = layers.filter(|layers| layers.truth.jvm.is_live());
    let (Some(layers), true) = (layers, state.stack().may_be_settled()) else {
        return;
    };
    let methods = &layers.truth.methods;
    let active = at_check::with_stack(layers, state, env, |frames| active(frames, methods));
    if let Some(active) = active.flatten() {
        let may_lack = |hook| methods.is_constructor(hook);
        state.stack().settle(&active, may_lack);
    }
}

/// The hooks of the frames that have an entry, bottom first; `None` if that is not certain. The
/// newest hooked frame is about to push.
fn active(frames: &[Frame], methods: &impl Methods) -> Option<Vec<HookId>> {
    let hooked = frames
        .iter()
        .filter_map(|frame| methods.hook(frame.method, frame.location));
    let mut active = Vec::new();
    for (hook, presence) in hooked.skip(1) {
        match presence {
            Presence::Absent => {}
            Presence::Present | Presence::Catching => active.push(hook),
            Presence::Pushing | Presence::Popping | Presence::Unwinding | Presence::Unknown => {
                return None;
            }
        }
    }
    active.reverse();
    Some(active)
}
