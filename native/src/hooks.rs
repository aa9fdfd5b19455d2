//! The native methods of `java.lang.StackwitnessTrace`, which the rewritten code calls.

use crate::agent::{Agent, guard};
use crate::injection::hook_faults;
use crate::jvm::jni::{Env, Function, Native, Ref};
use crate::layers::at_check;
use crate::layers::ground::{self, Stale, Uneven};
use crate::truth::java_hooks;
use crate::truth::thread_state::ThreadState;
use crate::truth::trace_stack::{Balance, Left, Token};
use jni_sys::jint;
use oracle::record::HookFault;
use oracle::trace::HookId;
use std::ffi::CStr;

/// The native methods of the hook class.
pub const NATIVES: [Native; 8] = [
    native(c"check", Function::Plain(check)),
    native(c"thrown", Function::TakesObjectAndInt(thrown)),
    native(c"caught", Function::TakesObjectAndInt(caught)),
    native(c"unwind", Function::GivesThrowable(unwind)),
    native(c"nativePush", Function::TakesIntsGivesInt(push)),
    native(c"nativePop", Function::TakesInt(pop)),
    native(c"nativeEnter", Function::TakesInts(enter)),
    native(c"nativeExit", Function::TakesInts(exit)),
];

const fn native(name: &'static CStr, function: Function) -> Native {
    Native { name, function }
}

fn state(env: Env<'_>) -> Option<&'static ThreadState> {
    ThreadState::current()
        .or_else(|| Agent::layers()?.truth.enter(env))
        .filter(|state| state.is_heard())
}

/// The hook with these halves of an id.
fn hook_of(high: jint, low: jint) -> HookId {
    HookId(((high as u32) << 16) | (low as u32 & 0xffff))
}

extern "system" fn push(env: Env<'_>, _: Ref<'_>, high: jint, low: jint) -> jint {
    let hook = hook_of(high, low);
    guard(0, || {
        in_turn(env, |state| pushed(state, env, hook).depth as jint).unwrap_or(0)
    })
}

extern "system" fn enter(env: Env<'_>, _: Ref<'_>, high: jint, low: jint) {
    guard((), || {
        in_turn(env, |state| pushed(state, env, hook_of(high, low)));
    });
}

/// A native hook begins, after hooks that ran in Java. Returns how many more exact hooks might have run there.
#[inline(always)]
fn arrive(state: &ThreadState) -> Left {
    // Where exact hooks run in Java there are no plain hooks, and this path is hot.
    if !state.own.pace.is_on() && state.stack().notice() {
        ground::noticed_late(Agent::layers());
    }
    java_hooks::arrive(state)
}

/// Runs the body of a native push or pop, between hooks that may run in Java.
#[inline(always)]
fn in_turn<T>(env: Env<'_>, body: impl FnOnce(&ThreadState) -> T) -> Option<T> {
    let state = state(env)?;
    arrive(state);
    let done = body(state);
    java_hooks::depart(state, || Some(&Agent::layers()?.truth.hook_counts));
    Some(done)
}

/// Runs the body of a hook for an exception, between hooks that may run in Java.
fn aside(env: Env<'_>, body: impl FnOnce(&ThreadState)) {
    guard((), || {
        let Some(state) = state(env) else { return };
        let left = arrive(state);
        body(state);
        java_hooks::resume(state, left);
    });
}

#[inline(always)]
fn pushed(state: &ThreadState, env: Env<'_>, hook: HookId) -> Token {
    if state.stack().is_doubtful() {
        at_check::settle_before_push(Agent::layers(), state, env);
    }
    let token = if hook_faults::strikes(state, HookFault::DropPushes) {
        Token::sure(state.stack().depth())
    } else {
        state.stack().push(hook)
    };
    if state.check_is_due() {
        at_check::due(Agent::layers(), state, env);
    }
    token
}

extern "system" fn pop(env: Env<'_>, _: Ref<'_>, token: jint) {
    let token = Token::sure(token as u32);
    guard((), || {
        in_turn(env, |state| returned(state, env, Some(token)));
    });
}

extern "system" fn exit(env: Env<'_>, _: Ref<'_>, high: jint, low: jint) {
    let hook = hook_of(high, low);
    guard((), || {
        in_turn(env, |state| {
            returned(state, env, state.stack().newest(hook))
        });
    });
}

/// The method whose entry `token` names returns.
#[inline(always)]
fn returned(state: &ThreadState, env: Env<'_>, token: Option<Token>) {
    if hook_faults::strikes(state, HookFault::DropPops) {
        return;
    }
    let Some(token) = token else {
        return explain(state, env, "return", Balance::TooFew, Stale::None, None);
    };
    let stale = Stale::above(state, token, Agent::layers);
    match state.stack().pop(token) {
        Balance::Even => ground::count_even(state, Agent::layers),
        found => explain(state, env, "return", found, stale, None),
    }
    // If an earlier failure has removed the caller's entry already, there is no entry to remove.
    let caller_is_there = token.depth > 0 && state.stack().depth() == token.depth;
    if caller_is_there && hook_faults::strikes(state, HookFault::DoublePops) {
        state.stack().pop(Token::sure(token.depth - 1));
    }
}

extern "system" fn thrown(env: Env<'_>, _: Ref<'_>, exception: Option<Ref<'_>>, token: jint) {
    let token = Token::sure(token as u32);
    aside(env, |state| left(state, env, exception, Some(token)));
}

extern "system" fn unwind<'a>(
    env: Env<'a>,
    _: Ref<'a>,
    exception: Option<Ref<'a>>,
    high: jint,
    low: jint,
) -> Option<Ref<'a>> {
    aside(env, |state| {
        // Frames above may have ended without a hook, and one of them may be of this method.
        if exception.is_some_and(|exception| ground::is_vm_error(env, exception)) {
            state.stack().doubt();
        }
        let token = state.stack().newest(hook_of(high, low));
        left(state, env, exception, token);
    });
    exception
}

/// An exception leaves the method whose entry `token` names.
fn left(state: &ThreadState, env: Env<'_>, exception: Option<Ref<'_>>, token: Option<Token>) {
    let place = "exceptional exit";
    let Some(token) = token else {
        return explain(state, env, place, Balance::TooFew, Stale::None, exception);
    };
    let stale = Stale::above(state, token, Agent::layers);
    let found = state.stack().pop(token);
    // The frame below may be the frame of a constructor, which ends without a hook.
    state.stack().leave();
    match found {
        Balance::Even => ground::count_even(state, Agent::layers),
        // The exit hook popped the entry before its return threw.
        Balance::TooFew if state.stack().depth() == token.depth => excuse_throw(),
        found => explain(state, env, place, found, stale, exception),
    }
}

extern "system" fn caught(env: Env<'_>, _: Ref<'_>, exception: Option<Ref<'_>>, token: jint) {
    aside(env, |state| {
        let token = Token::sure(token as u32);
        let stale = Stale::above(state, token, Agent::layers);
        let popped = state.stack().depth() == token.depth;
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
