//! The native methods of `java.lang.StackwitnessTrace`, which the rewritten code calls.

use crate::agent::{Agent, guard};
use crate::injection::hook_faults;
use crate::jvm::jni::{Env, Function, Native, Ref};
use crate::layers::at_check;
use crate::layers::ground::{self, Stale, Uneven};
use crate::truth::thread_state::ThreadState;
use crate::truth::trace_stack::{Balance, Token};
use jni_sys::jint;
use oracle::Hooking;
use oracle::record::Sabotage;
use oracle::trace::HookId;

/// The native methods that the hook class has, for each kind of hooks.
pub fn natives(hooking: Hooking) -> Vec<Native> {
    let (push_name, pop_name) = match hooking {
        Hooking::Light => (c"nativePush", c"nativePop"),
        Hooking::None | Hooking::Exact => (c"push", c"pop"),
    };
    let natives = [
        (c"thrown", Function::TakesObjectAndInt(thrown)),
        (c"caught", Function::TakesObjectAndInt(caught)),
        (c"check", Function::Plain(check)),
        (push_name, Function::TakesIntsGivesInt(push)),
        (pop_name, Function::TakesInt(pop)),
    ];
    let natives = natives.into_iter();
    natives
        .map(|(name, function)| Native { name, function })
        .collect()
}

fn state(env: Env<'_>) -> Option<&'static ThreadState> {
    ThreadState::current().or_else(|| Agent::layers()?.truth.threads.enter(env))
}

extern "system" fn push(env: Env<'_>, _: Ref<'_>, high: jint, low: jint) -> jint {
    guard(0, || {
        let Some(state) = state(env) else { return 0 };
        let hook = HookId(((high as u32) << 16) | (low as u32 & 0xffff));
        let token = match hook_faults::strikes(state, Sabotage::DropPushes) {
            false => state.stack().push(hook),
            true => Token(state.stack().depth()),
        };
        if state.check_is_due() {
            at_check::due(Agent::layers(), state, env);
        }
        token.0 as jint
    })
}

extern "system" fn pop(env: Env<'_>, _: Ref<'_>, token: jint) {
    guard((), || {
        let Some(state) = state(env) else { return };
        if hook_faults::strikes(state, Sabotage::DropPops) {
            return;
        }
        let token = Token(token as u32);
        let stale = Stale::above(state, token, Agent::layers);
        match state.stack().pop(token) {
            Balance::Even => ground::count_even(state, Agent::layers),
            found => explain(state, env, "return", found, stale, None),
        }
        // Where an earlier failure has taken the caller's entry already, there is none to take.
        let caller_is_there = token.0 > 0 && state.stack().depth() == token.0;
        if caller_is_there && hook_faults::strikes(state, Sabotage::DoublePops) {
            state.stack().pop(Token(token.0 - 1));
        }
    });
}

extern "system" fn thrown(env: Env<'_>, _: Ref<'_>, exception: Option<Ref<'_>>, token: jint) {
    guard((), || {
        let Some(state) = state(env) else { return };
        let token = Token(token as u32);
        let stale = Stale::above(state, token, Agent::layers);
        let found = state.stack().pop(token);
        // The frame below may be a constructor's that ends without a hook.
        state.stack().leave();
        match found {
            Balance::Even => ground::count_even(state, Agent::layers),
            // The exit hook had popped already when its return threw.
            Balance::TooFew if state.stack().depth() == token.0 => excuse_throw(),
            found => explain(state, env, "exceptional exit", found, stale, exception),
        }
    });
}

extern "system" fn caught(env: Env<'_>, _: Ref<'_>, exception: Option<Ref<'_>>, token: jint) {
    guard((), || {
        let Some(state) = state(env) else { return };
        let token = Token(token as u32);
        let stale = Stale::above(state, token, Agent::layers);
        let popped = state.stack().depth() == token.0;
        match state.stack().catch(token) {
            Balance::Even => {}
            Balance::TooFew if popped => excuse_throw(),
            found => explain(state, env, "exception handler", found, stale, exception),
        }
    });
}

extern "system" fn check(env: Env<'_>, _: Ref<'_>) {
    guard((), || {
        if let (Some(layers), Some(state)) = (Agent::layers(), state(env))
            && layers.truth.jvm.is_live()
        {
            at_check::now(layers, state, env);
        }
    });
}

#[cold]
fn explain(
    state: &ThreadState,
    env: Env<'_>,
    place: &'static str,
    found: Balance,
    stale: Stale,
    exception: Option<Ref<'_>>,
) {
    let Some(layers) = Agent::layers() else {
        return;
    };
    let uneven = Uneven {
        place,
        found,
        stale,
        exception,
    };
    ground::explain(layers, state, env, uneven);
}

#[cold]
fn excuse_throw() {
    if let Some(layers) = Agent::layers() {
        ground::excuse_throw(layers);
    }
}
