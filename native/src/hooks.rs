//! The native methods of `java.lang.StackwitnessTrace`, which the rewritten code calls.

use crate::agent::{Agent, guard};
use crate::evidence::{self, Found, Walker};
use crate::injection::hook_faults;
use crate::layers::at_check;
use crate::truth::threads::ThreadState;
use crate::truth::trace_stack::{Balance, StackCopy, Token, TraceStack};
use jni_sys::{JNIEnv, JNINativeMethod, jclass, jint, jobject};
use oracle::mutants::Unseen;
use oracle::record::{Evidence, Sabotage};
use oracle::trace::HookId;
use oracle::{Hooking, Judgement, Layer, Reason, Verdict};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// Even pops are counted in the shared slots in lots of this many.
const LOT: u64 = 256;

/// So many entries too many are named.
const SHOWN: usize = 16;

/// Binds the native methods.
///
/// # Safety
/// `class` must be the hook class, and `env` the calling thread's.
pub unsafe fn register(env: *mut JNIEnv, class: jclass, hooking: Hooking) -> bool {
    let method = |name: &'static std::ffi::CStr, signature: &'static std::ffi::CStr, function| {
        JNINativeMethod {
            name: name.as_ptr().cast_mut(),
            signature: signature.as_ptr().cast_mut(),
            fnPtr: function,
        }
    };
    let mut methods = vec![
        method(c"thrown", c"(Ljava/lang/Object;I)V", thrown as *mut _),
        method(c"caught", c"(Ljava/lang/Object;I)V", caught as *mut _),
        method(c"check", c"()V", check as *mut _),
    ];
    match hooking {
        Hooking::Light => methods.extend([
            method(c"nativePush", c"(II)I", push as *mut _),
            method(c"nativePop", c"(I)V", pop as *mut _),
        ]),
        Hooking::None | Hooking::Exact => methods.extend([
            method(c"push", c"(II)I", push as *mut _),
            method(c"pop", c"(I)V", pop as *mut _),
        ]),
    }
    // SAFETY: names and signatures are those of the class's native methods.
    let status = unsafe {
        ((**env).v1_2.RegisterNatives)(env, class, methods.as_ptr(), methods.len() as jint)
    };
    status == 0
}

fn state(env: *mut JNIEnv) -> Option<&'static ThreadState> {
    ThreadState::current().or_else(|| Agent::get()?.threads.enter(env))
}

extern "system" fn push(env: *mut JNIEnv, _: jclass, high: jint, low: jint) -> jint {
    guard(0, || {
        let Some(state) = state(env) else { return 0 };
        let hook = HookId(((high as u32) << 16) | (low as u32 & 0xffff));
        let token = match hook_faults::strikes(state, Sabotage::DropPushes) {
            false => state.stack().push(hook),
            true => Token(state.stack().depth()),
        };
        if state.check_is_due() {
            at_check::due(state, env);
        }
        token.0 as jint
    })
}

extern "system" fn pop(env: *mut JNIEnv, _: jclass, token: jint) {
    guard((), || {
        let Some(state) = state(env) else { return };
        if hook_faults::strikes(state, Sabotage::DropPops) {
            return;
        }
        let token = Token(token as u32);
        let stale = Stale::above(state, token);
        match state.stack().pop(token) {
            Balance::Even => count_even(state),
            found => explain(state, env, "return", found, stale, None),
        }
        // Where an earlier failure has taken the caller's entry already, there is none to take.
        let caller_is_there = token.0 > 0 && state.stack().depth() == token.0;
        if caller_is_there && hook_faults::strikes(state, Sabotage::DoublePops) {
            state.stack().pop(Token(token.0 - 1));
        }
    });
}

extern "system" fn thrown(env: *mut JNIEnv, _: jclass, exception: jobject, token: jint) {
    guard((), || {
        let Some(state) = state(env) else { return };
        let token = Token(token as u32);
        let stale = Stale::above(state, token);
        let found = state.stack().pop(token);
        // The frame below may be a constructor's that ends without a hook.
        state.stack().leave();
        match found {
            Balance::Even => count_even(state),
            // The exit hook had popped already when its return threw.
            Balance::TooFew if state.stack().depth() == token.0 => excuse_throw(),
            found => explain(
                state,
                env,
                "exceptional exit",
                found,
                stale,
                Some(exception),
            ),
        }
    });
}

extern "system" fn caught(env: *mut JNIEnv, _: jclass, exception: jobject, token: jint) {
    guard((), || {
        let Some(state) = state(env) else { return };
        let token = Token(token as u32);
        let (stale, popped) = (Stale::above(state, token), state.stack().depth() == token.0);
        match state.stack().catch(token) {
            Balance::Even => {}
            Balance::TooFew if popped => excuse_throw(),
            found => explain(
                state,
                env,
                "exception handler",
                found,
                stale,
                Some(exception),
            ),
        }
    });
}

extern "system" fn check(env: *mut JNIEnv, _: jclass) {
    guard((), || {
        if let (Some(agent), Some(state)) = (Agent::get(), state(env))
            && agent.is_live()
        {
            at_check::now(agent, state, env);
        }
    });
}

fn count_even(state: &ThreadState) {
    let pops = state.own.even_pops.get() + 1;
    if pops < LOT {
        state.own.even_pops.set(pops);
        return;
    }
    state.own.even_pops.set(0);
    if let Some(agent) = Agent::get() {
        agent.slots.add(Layer::Ground, Verdict::Match, pops);
    }
}

/// The end of a thread: without Java frames its trace stack must be empty. (The thread that
/// calls `System.exit` ends with its frames.)
pub fn end_thread(agent: &Agent, state: &ThreadState, env: *mut JNIEnv) {
    agent
        .slots
        .add(Layer::Ground, Verdict::Match, state.own.even_pops.take());
    match (state.stack().depth(), agent.jvmti.has_frames()) {
        (0, _) => agent.slots.count(Layer::Ground, Verdict::Match),
        (left, Ok(false)) => unbalanced(state, env, "end of the thread", Balance::TooMany(left)),
        (_, Ok(true) | Err(_)) => return,
    }
    hook_faults::thread_ends(agent);
}

/// The end of a virtual thread: its trace stack must be empty.
pub fn end_virtual_thread(
    agent: &Agent,
    state: &ThreadState,
    stack: &TraceStack,
    env: *mut JNIEnv,
) {
    match stack.depth() {
        0 => agent.slots.count(Layer::Ground, Verdict::Match),
        left => unbalanced(
            state,
            env,
            "end of a virtual thread",
            Balance::TooMany(left),
        ),
    }
}

/// Entries of frames that ended without their `pop`.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
enum Stale {
    None,
    /// All of them are constructors, whose call of `super(...)` no handler can cover.
    Constructors,
    Others,
}

impl Stale {
    /// What lies above the frame of `token`.
    #[inline(always)]
    fn above(state: &ThreadState, token: Token) -> Stale {
        if state.stack().depth() <= token.0.wrapping_add(1) {
            return Stale::None;
        }
        Stale::look(state, token)
    }

    #[cold]
    fn look(state: &ThreadState, token: Token) -> Stale {
        let Some(agent) = Agent::get() else {
            return Stale::Others;
        };
        let is_constructor = |hook| agent.methods.is_constructor(hook);
        match state.stack().above(token).all(is_constructor) {
            true => Stale::Constructors,
            false => Stale::Others,
        }
    }
}

/// Frames that ended without their `pop` are the hooks' own fault, unless
///
/// * an exception left the call of `super(...)` in constructors, which no handler can cover:
///   the next handler below sets the stack right, as planned. Samples until then know of it by
///   the mark that `thrown` left (see [`TraceStack::leave`]);
/// * or the VM stopped a hook in its middle, with a StackOverflowError or another error of
///   its own, or because another thread stopped this one.
#[cold]
fn explain(
    state: &ThreadState,
    env: *mut JNIEnv,
    place: &str,
    found: Balance,
    stale: Stale,
    exception: Option<jobject>,
) {
    let Some(agent) = Agent::get() else { return };
    let (verdict, excuse) = match (stale, exception) {
        (Stale::Constructors, Some(_)) => {
            count_even(state);
            (Verdict::Match, Unseen::Constructor)
        }
        // Some frame without hooks has caught the exception.
        (Stale::Constructors, None) => {
            agent.slots.count(Layer::Ground, Verdict::Unverifiable);
            (Verdict::Unverifiable, Unseen::Constructor)
        }
        (Stale::Others, Some(exception)) if is_vm_error(env, exception) => {
            agent.rewriting().repairs += 1;
            agent.slots.count(Layer::Ground, Verdict::Unverifiable);
            (Verdict::Unverifiable, Unseen::VmError)
        }
        _ => return unbalanced(state, env, place, found),
    };
    hook_faults::noticed(agent, found, verdict, Some(excuse));
}

/// An exit that throws after its `pop` is no fault of the hooks.
#[cold]
fn excuse_throw() {
    if let Some(agent) = Agent::get() {
        let excuse = Some(Unseen::ThrewAfterPop);
        hook_faults::noticed(agent, Balance::TooFew, Verdict::Match, excuse);
    }
}

fn unbalanced(state: &ThreadState, env: *mut JNIEnv, place: &str, found: Balance) {
    let Some(agent) = Agent::get() else { return };
    agent.slots.count(Layer::Ground, Verdict::Wrong);
    hook_faults::noticed(agent, found, Verdict::Wrong, None);
    if !agent.is_live() || !evidence::wanted(agent, Layer::Ground, Verdict::Wrong) {
        return;
    }
    let Ok(mut copy) = StackCopy::new(at_check::MAX_FRAMES) else {
        return;
    };
    _ = state.stack().copy_to(&mut copy);
    let hooks: Vec<_> = copy.hooks().collect();
    let text = match found {
        Balance::TooMany(n) => {
            let names = state.stack().dropped(n).take(SHOWN).map(|hook| {
                let entry = agent.methods.show_entry(hook);
                entry.method
            });
            let names: Vec<_> = names.collect();
            format!("{n} entries too many, from below: {}", names.join(", "))
        }
        Balance::TooFew => "the method's own entry is gone".into(),
        Balance::Even => return,
    };
    let found = Found {
        layer: Layer::Ground,
        judgement: Judgement::plain(Verdict::Wrong, Reason::Unbalanced),
        tid: state.tid(),
        walker: Walker::Nobody,
        walk: &[],
        truth: evidence::show_truth(agent, env, &copy.truth(&hooks, &[])),
        evidence: Evidence {
            at: Some(place.into()),
            found: Some(text),
            ..Evidence::default()
        },
    };
    evidence::record(agent, env, found);
}

/// `java.lang.VirtualMachineError` and `java.lang.ThreadDeath`, as far as the VM has them.
static VM_ERRORS: OnceLock<[AtomicPtr<jni_sys::_jobject>; 2]> = OnceLock::new();

/// Looks up the classes of errors that may stop a hook.
///
/// # Safety
/// `env` must be the calling thread's, without a pending exception, in the live phase.
pub unsafe fn find_vm_errors(env: *mut JNIEnv) {
    let find = |name: &std::ffi::CStr| {
        // SAFETY: as the caller promised; an exception of a class that the VM does not have
        // any more is cleared.
        unsafe {
            let local = ((**env).v1_1.FindClass)(env, name.as_ptr());
            if local.is_null() {
                ((**env).v1_1.ExceptionClear)(env);
                return AtomicPtr::default();
            }
            AtomicPtr::new(((**env).v1_1.NewGlobalRef)(env, local))
        }
    };
    _ = VM_ERRORS.set([
        find(c"java/lang/VirtualMachineError"),
        find(c"java/lang/ThreadDeath"),
    ]);
}

fn is_vm_error(env: *mut JNIEnv, exception: jobject) -> bool {
    // A repair before the live phase cannot be judged; the VM's start does not overflow.
    VM_ERRORS.get().is_some_and(|classes| {
        classes
            .iter()
            .map(|class| class.load(Relaxed))
            .any(|class| {
                // SAFETY: a global reference and an argument of the running native method.
                !class.is_null() && unsafe { ((**env).v1_1.IsInstanceOf)(env, exception, class) }
            })
    })
}
