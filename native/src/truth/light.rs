//! The light mode: how its hooks, which are Java code, find the trace stack of the thread that
//! they run on.
//!
//! `java.lang.Thread` gets a field for the address of the entries of its own trace stack. It
//! is set
//!
//! * from the thread's start event to its end event: before and after, hooks take the native
//!   way;
//! * not while the thread carries a virtual thread: hooks must then use that one's trace
//!   stack, as the native way does. In a virtual thread itself it is never set.
//!
//! Only the thread itself changes its field, so its hooks need no synchronisation.

use crate::truth::threads::ThreadState;
use jni_sys::{JNIEnv, jclass, jlong};
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;

/// The class that gets the field.
pub const THREAD: &str = "java/lang/Thread";

/// Gives the class file of [`THREAD`] its field; `None` if that cannot be done.
pub fn extend_thread(class_file: &[u8]) -> Option<Vec<u8>> {
    instrumenter::add_field(class_file, "stackwitnessEntries", "J").ok()?
}

/// How the field is reached.
#[derive(Default)]
pub struct Light {
    /// Null until the VM is up.
    field: AtomicPtr<jni_sys::_jfieldID>,
}

impl Light {
    /// Lets threads be shown to their hooks from now on, and `hooks`, the hook class, look.
    ///
    /// # Safety
    /// `env` must be the calling thread's, without a pending exception, in the live phase.
    pub unsafe fn enable(&self, env: *mut JNIEnv, hooks: jclass) -> Result<(), String> {
        let refused = "light hooks: the VM did not accept the field in java.lang.Thread";
        // SAFETY: as the caller promised; an exception is cleared before anything else is asked.
        unsafe {
            let known = |is_null: bool| {
                if is_null {
                    ((**env).v1_1.ExceptionClear)(env);
                    return Err(refused.to_owned());
                }
                Ok(())
            };
            let thread = ((**env).v1_1.FindClass)(env, c"java/lang/Thread".as_ptr());
            known(thread.is_null())?;
            let (name, kind) = (c"stackwitnessEntries".as_ptr(), c"J".as_ptr());
            let field = ((**env).v1_1.GetFieldID)(env, thread, name, kind);
            known(field.is_null())?;
            let up = ((**env).v1_1.GetStaticFieldID)(env, hooks, c"up".as_ptr(), c"Z".as_ptr());
            known(up.is_null())?;
            self.field.store(field, Relaxed);
            ((**env).v1_1.SetStaticBooleanField)(env, hooks, up, jni_sys::JNI_TRUE);
        }
        Ok(())
    }

    /// Lets the hooks of the calling thread find its own trace stack, or not.
    pub fn show(&self, state: &'static ThreadState, shown: bool) {
        let (field, thread, env) = (self.field.load(Relaxed), state.object(), state.env());
        if field.is_null() || thread.is_null() || env.is_null() {
            return;
        }
        let address = match shown {
            true => state.own_stack().entries_address() as jlong,
            false => 0,
        };
        // SAFETY: the calling thread's environment, its `java.lang.Thread` and a field of that.
        unsafe { ((**env).v1_1.SetLongField)(env, thread, field, address) };
    }
}
