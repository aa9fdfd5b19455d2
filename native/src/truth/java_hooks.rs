//! How hooks in Java find the trace stack of the thread that they run on.
//!
//! `java.lang.Thread` gets a field that leads to the entries of its own trace stack. A field of 0 leads to
//! [entries](unusable_entries) that hooks may not use, so that hooks need not ask whether the field is set. The field is
//! set
//!
//! * from the thread's start event to its end event: before and after, hooks call native methods;
//! * not while the thread carries a virtual thread: hooks must then use the virtual thread's trace
//!   stack, as the native methods do. In a virtual thread itself the field is never set.
//!
//! Only the thread itself changes its field, so its hooks need no synchronisation.
//!
//! In a VM without compilers all hooks are native calls: there, hooks in Java take longer.

use super::in_java;
use super::thread_state::ThreadState;
use super::trace_stack::{Left, Unusable};
use crate::jvm::jni::{Env, LongField, Ref};
use jni_sys::jlong;
use oracle::Hooking;
use oracle::record::Config;
use std::ffi::CStr;
use std::sync::OnceLock;

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
    /// Light hooks: all.
    Light,
}

impl JavaHooks {
    /// The hooks of `config` that may run in Java, if they may. Exact hooks that fail on purpose are
    /// native.
    pub fn new(config: &Config) -> Option<JavaHooks> {
        let kind = match config.hooks {
            Hooking::Light => Kind::Light,
            Hooking::Exact if config.hook_fault.is_none() => Kind::Exact,
            Hooking::Exact | Hooking::None => return None,
        };
        let field = OnceLock::new();
        Some(JavaHooks { kind, field })
    }

    /// Whether the hooks are light.
    pub fn are_light(&self) -> bool {
        self.kind == Kind::Light
    }

    /// From now on the threads' fields are set, and the hooks of `hooks`, the hook class, read
    /// them.
    pub fn enable(&self, env: Env<'_>, hooks: Ref<'_>) -> Result<(), String> {
        let refused = || "hooks in Java: the VM did not accept the field in java.lang.Thread";
        let thread = env.find_class(c"java/lang/Thread").ok_or_else(refused)?;
        let field = env
            .long_field(thread.get(), FIELD_NAME)
            .ok_or_else(refused)?;
        _ = self.field.set(field);
        match env.set_static_long(hooks, c"base", unusable_entries()) {
            true => Ok(()),
            false => Err(refused().into()),
        }
    }

    /// Sets or clears the field of the calling thread, whose state this is.
    pub fn show(&self, env: Env<'_>, state: &'static ThreadState, shown: bool) {
        let Some(&field) = self.field.get() else {
            return;
        };
        let address = match shown {
            true => (state.own_stack().entries_address() as jlong).wrapping_sub(unusable_entries()),
            false => 0,
        };
        if self.kind == Kind::Exact {
            in_java::arrive(state);
            in_java::resume(state, Left::default());
            if shown && !state.own.pace.is_on() {
                state.own.pace.reset(true);
                state.own_stack().allow(Left::default());
            }
        }
        state.with_object(|thread| env.set_long(thread, field, address));
    }
}
