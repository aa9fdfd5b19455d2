//! How hooks in Java find the trace stack of the thread that they run on.
//!
//! `java.lang.Thread` gets a field that leads to the entries of its own trace stack. A field of 0 leads to
//! [entries](unusable_entries) that hooks may not use, so that hooks need not ask whether the field is set. The field is
//! set from the thread's start event to its end event.
//!
//! * Exact hooks call native methods before and after, and while the thread carries a virtual thread: they must then
//!   use the virtual thread's trace stack, as the native methods do. In a virtual thread itself the field is never set.
//! * Light hooks read the field of the carrier also in a virtual thread. While the thread carries one, the field leads
//!   to the virtual thread's entries. Before the start event and after the end event, plain hooks tell nobody what
//!   methods run. So the agent knows no trace stack of such a thread, and [ignores](ThreadState::is_heard) the hooks that
//!   call native methods.
//!
//! Only the thread itself changes its field, so its hooks need no synchronisation. The fields of the threads that are
//! there when the VM is up are set before hooks read them.
//!
//! In a VM without compilers all hooks are native calls: there, hooks in Java take longer.
//!
//! # How many exact hooks run in Java
//! A call of a native method costs many times what a hook does. So where a thread runs more than
//! half a million hooks a second ([`super::trace_stack::Pace`]), only about so many of them are native
//! calls. The others do the same work in Java. Which hooks are native is random: at a
//! fixed rate they could always be those of the same place in a loop.

use super::thread_state::{Live, ThreadState};
use super::trace_stack::{HookCounts, Left, TraceStack, Unusable};
use crate::jvm::jni::{Env, LongField, Ref};
use jni_sys::jlong;
use oracle::Hooking;
use oracle::record::Config;
use std::ffi::CStr;
use std::ptr;
use std::sync::OnceLock;

/// The values of `threads` in the hook class of light hooks: they read the field of the current thread, or of its
/// carrier.
const CURRENT: jlong = 1;
const CARRIERS: jlong = 2;

/// The class that gets the field.
pub const THREAD: &str = "java/lang/Thread";

/// The field.
const FIELD_NAME: &CStr = c"stackwitnessEntries";

/// Gives the class file of [`THREAD`] its field; `None` if that cannot be done.
pub fn extend_thread(class_file: &[u8]) -> Option<Vec<u8>> {
    let name = FIELD_NAME.to_str().ok()?;
    instrumenter::add_field(class_file, name, "J").ok()?
}

/// The address of entries that no hook in Java may use. The threads' fields are relative to this address.
fn unusable_entries() -> jlong {
    static UNUSABLE: Unusable = Unusable::new();
    UNUSABLE.entries_address() as jlong
}

/// Hooks in Java, and their access to the field.
pub struct JavaHooks {
    kind: Kind,
    /// The field, once the VM is up.
    field: OnceLock<LongField>,
}

/// The kinds of hooks that may run in Java.
#[derive(Copy, Clone, Eq, PartialEq)]
enum Kind {
    /// Exact hooks: as many as the agent allows.
    Exact,
    /// Light hooks: all, apart from those that make checks, or that the agent does not allow.
    Light,
}

impl JavaHooks {
    /// The hooks of `config` that may run in Java, if they may. Hooks that fail on purpose are native.
    pub fn new(config: &Config) -> Option<JavaHooks> {
        let kind = match config.hooks {
            Hooking::Light if config.sampling.hook_fault.is_none() => Kind::Light,
            Hooking::Exact if config.sampling.hook_fault.is_none() => Kind::Exact,
            Hooking::Light | Hooking::Exact | Hooking::None => return None,
        };
        let field = OnceLock::new();
        Some(JavaHooks { kind, field })
    }

    /// Whether the hooks are light.
    pub fn are_light(&self) -> bool {
        self.kind == Kind::Light
    }

    /// From now on the threads' fields are set, and the hooks of `hooks`, the hook class, read them. `live` are the
    /// threads of now, and `carries` says whether threads may carry virtual threads.
    pub fn enable<'l>(
        &self,
        env: Env<'_>,
        hooks: Ref<'_>,
        carries: bool,
        live: impl Iterator<Item = Live<'l>>,
    ) -> Result<(), String> {
        let refused = || "hooks in Java: the VM did not accept the field in java.lang.Thread";
        let thread = env.find_class(c"java/lang/Thread").ok_or_else(refused)?;
        let field = env
            .long_field(thread.get(), FIELD_NAME)
            .ok_or_else(refused)?;
        _ = self.field.set(field);
        if self.are_light() {
            live.for_each(|thread| self.show(env, thread.state(), Some(thread.state().stack())));
        }
        let which = if carries { CARRIERS } else { CURRENT };
        let is_ready = (!self.are_light() || env.set_static_long(hooks, c"threads", which))
            && env.set_static_long(hooks, c"base", unusable_entries());
        is_ready.then_some(()).ok_or_else(|| refused().into())
    }

    /// Whether the agent hears of all hooks of a thread that it has just met. Of plain hooks it does so only from
    /// [`show`](Self::show) on.
    pub fn hears_of_unshown(&self) -> bool {
        !self.are_light() || self.field.get().is_none()
    }

    /// The hooks of the thread of `state` use `stack` from now on; `None`: no trace stack that is known. On the thread
    /// itself, or before the hooks are enabled.
    pub fn show(&self, env: Env<'_>, state: &ThreadState, stack: Option<&TraceStack>) {
        let Some(&field) = self.field.get() else {
            return;
        };
        // Exact hooks in Java know the thread's own trace stack only.
        let is_known = |stack: &&TraceStack| self.are_light() || ptr::eq(*stack, state.own_stack());
        let stack = stack.filter(is_known);
        let address = stack.map_or(0, |stack| {
            (stack.entries_address() as jlong).wrapping_sub(unusable_entries())
        });
        if self.kind == Kind::Exact {
            arrive(state);
            resume(state, Left::default());
            if stack.is_some() && !state.own.pace.is_on() {
                state.own.pace.reset(true);
                state.own_stack().allow(Left::default());
            }
        }
        let was_set = state.with_object(|thread| env.set_long(thread, field, address));
        if self.are_light() {
            state.hear(stack.is_some() && was_set.is_some());
        }
    }
}

/// A native hook begins: the hooks that ran in Java before count. Returns how many more might have
/// run there.
#[inline(always)]
pub fn arrive(state: &ThreadState) -> Left {
    if !state.own.pace.is_on() {
        return Left::default();
    }
    let (ran, left) = state.own_stack().ran_in_java();
    if ran.pushes + ran.pops > 0 {
        let own = &state.own;
        own.pace
            .ran_in_java(u64::from(ran.pushes) + u64::from(ran.pops));
        own.even_pops.set(own.even_pops.get() + u64::from(ran.pops));
        own.countdown
            .set(own.countdown.get().saturating_sub(ran.pushes));
    }
    // Until it ends, the hook may be asked again.
    state.own_stack().allow(left);
    left
}

/// A native hook that changed the trace stack ends: `left` more may run in Java.
#[inline(always)]
pub fn resume(state: &ThreadState, left: Left) {
    if state.own.pace.is_on() {
        state.own_stack().allow(left);
    }
}

/// A native push or pop ends: a random number of hooks run in Java. `counts` is called once in many
/// times.
#[inline(always)]
pub fn depart<'a>(state: &ThreadState, counts: impl FnOnce() -> Option<&'a HookCounts>) {
    let pace = &state.own.pace;
    if !pace.is_on() {
        return;
    }
    let hooks = pace.next(counts, || state.own.random());
    state.own_stack().allow(Left(hooks));
}

/// The thread ends: its hooks are counted.
pub fn end(state: &ThreadState, counts: &HookCounts) {
    arrive(state);
    if state.own.pace.is_on() {
        state.own.pace.measure(Some(counts));
    }
}
