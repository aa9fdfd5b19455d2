//! Errors of the VM that leave frames: which entry of the trace stack is that of the frame whose
//! hook runs.
//!
//! HotSpot ends compiled frames without looking at their handlers where the thread's stack is
//! nearly full (`OptoRuntime::handle_exception_C`, `exception_handler_for_pc` of C1). So a
//! StackOverflowError ends frames without a hook. In a recursion the id of a hook cannot tell the
//! entries of these frames from those of active frames. So the first hook that such an error meets
//! asks GetStackTrace. The answer is taken only if the active frames are on the trace stack in
//! their order, and the layers count one check as unverifiable.

use super::at_check;
use super::context::Layers;
use crate::jvm::jni::Env;
use crate::truth::thread_state::ThreadState;
use crate::truth::trace_stack::Token;
use oracle::trace::{Frame, HookId, Methods, Presence};

/// The token of the calling frame, which an error of the VM leaves and whose hook is `hook`. The
/// trace stack stays in doubt if that is a guess. `layers` is given once the agent is up.
#[cold]
pub fn token(
    layers: Option<&Layers>,
    state: &ThreadState,
    env: Env<'_>,
    hook: HookId,
) -> Option<Token> {
    let stack = state.stack();
    if stack.has_just_unwound() {
        return stack.newest(hook);
    }
    stack.doubt();
    let layers = layers.filter(|layers| layers.truth.jvm.is_live());
    let asked = layers.and_then(|layers| {
        let methods = &layers.truth.methods;
        let active = at_check::with_stack(layers, state, env, |frames| active(frames, methods))??;
        stack.newest_of(&active, |hook| methods.is_constructor(hook))
    });
    asked.or_else(|| stack.newest(hook))
}

/// The hooks of the frames that have an entry, bottom first; `None` if that is not certain.
fn active(frames: &[Frame], methods: &impl Methods) -> Option<Vec<HookId>> {
    let mut active = Vec::with_capacity(frames.len());
    for frame in frames.iter().rev() {
        match methods.hook(frame.method, frame.location) {
            None | Some((_, Presence::Absent)) => {}
            Some((hook, Presence::Present | Presence::Catching | Presence::Unwinding)) => {
                active.push(hook);
            }
            Some((_, Presence::Pushing | Presence::Popping)) => return None,
        }
    }
    Some(active)
}
