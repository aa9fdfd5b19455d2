//! The light mode: where its hooks, which are Java code, find the trace stack of the thread
//! that they run on.
//!
//! A table leads from a platform thread's Java id (`Thread.tid`) to its [`ThreadState`]. Ids
//! are not used again. A thread's place in it is set
//!
//! * from its start event to its end event: before and after, hooks take the native way;
//! * not while it carries a virtual thread: hooks must then use that one's trace stack, as
//!   the native way does. A virtual thread's own id is never in the table.
//!
//! Only the thread itself changes its place, so its hooks need no synchronisation.

use crate::memory::Reserved;
use crate::threads::ThreadState;
use crate::trace_stack::TraceStack;
use jni_sys::{JNIEnv, jclass, jfieldID, jint, jlong, jobject};
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicPtr, AtomicUsize};

/// So many ids have a place; threads with larger ones take the native way.
const IDS: usize = 1 << 26;

/// The table, and how ids are read.
pub struct Light {
    places: Reserved<AtomicUsize>,
    /// The field `Thread.tid`; null until the VM is up.
    id_field: AtomicPtr<jni_sys::_jfieldID>,
}

impl Light {
    /// An empty table: address space, and memory only where it is used.
    pub fn new() -> io::Result<Light> {
        Ok(Light {
            places: Reserved::new(IDS)?,
            id_field: AtomicPtr::default(),
        })
    }

    fn place(&self, id: jlong) -> Option<&AtomicUsize> {
        let index = usize::try_from(id)
            .ok()
            .filter(|id| (1..IDS).contains(id))?;
        // SAFETY: within the memory, which is zeroed: a valid value.
        Some(unsafe { self.places.start().add(index).as_ref() })
    }

    /// Gives the calling thread, whose `java.lang.Thread` is `thread`, its place, once the VM
    /// is up.
    pub fn register(&'static self, env: *mut JNIEnv, state: &'static ThreadState, thread: jobject) {
        let field: jfieldID = self.id_field.load(Relaxed);
        if field.is_null() {
            return;
        }
        // SAFETY: the field is one of `thread`'s class.
        let id = unsafe { ((**env).v1_1.GetLongField)(env, thread, field) };
        if let Some(place) = self.place(id) {
            state.take_place(place);
        }
    }

    /// Lets the hooks use the table from now on.
    ///
    /// # Safety
    /// `env` must be the calling thread's, without a pending exception, in the live phase, and
    /// `hooks` the light hook class.
    pub unsafe fn publish(&self, env: *mut JNIEnv, hooks: jclass) -> Result<(), String> {
        // SAFETY: as the caller promised; an exception is cleared before the next call.
        unsafe {
            let found = |what: &str, is_null: bool| match is_null {
                false => Ok(()),
                true => {
                    ((**env).v1_1.ExceptionClear)(env);
                    Err(format!("light hooks: this VM has no {what}"))
                }
            };
            let thread = ((**env).v1_1.FindClass)(env, c"java/lang/Thread".as_ptr());
            found("java.lang.Thread", thread.is_null())?;
            let id = ((**env).v1_1.GetFieldID)(env, thread, c"tid".as_ptr(), c"J".as_ptr());
            found("field `Thread.tid`", id.is_null())?;
            let (name, kind) = (c"directory".as_ptr(), c"J".as_ptr());
            let directory = ((**env).v1_1.GetStaticFieldID)(env, hooks, name, kind);
            found("field `directory` in the hooks", directory.is_null())?;
            self.id_field.store(id, Relaxed);
            let address = self.places.start().as_ptr() as jlong;
            ((**env).v1_1.SetStaticLongField)(env, hooks, directory, address);
        }
        Ok(())
    }
}

/// The constants of `StackwitnessLayout`, in its order.
pub extern "system" fn layout(_: *mut JNIEnv, _: jclass, which: jint) -> jlong {
    let stack = ThreadState::STACK;
    let all = [
        IDS,
        stack + TraceStack::DEPTH,
        stack + TraceStack::CAPACITY,
        stack + TraceStack::ENTRIES,
        ThreadState::COUNTDOWN,
        ThreadState::EVEN_POPS,
    ];
    let found = usize::try_from(which).ok().and_then(|which| all.get(which));
    found.map_or(0, |&constant| constant as jlong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_no_thread_has_have_no_place() {
        let light = Light::new().expect("address space");
        assert!(light.place(0).is_none() && light.place(-1).is_none());
        assert!(light.place(IDS as jlong).is_none());
        let place = light.place(IDS as jlong - 1).expect("the last one");
        assert_eq!(place.load(Relaxed), 0);
    }
}
