//! The way from a thread's JNI environment to the VM's description of the thread.

use hotspot::layout::fields::{Fields, Missing};
use hotspot::layout::thread::{JavaThread, Layout};
use jni_sys::{JNIEnv, jobject};
use std::sync::OnceLock;

/// The VM's threads.
pub struct Threads {
    /// Their layout.
    pub layout: Layout,
    /// The distance from a thread to its JNI environment, which is a part of the thread.
    environment: OnceLock<usize>,
}

impl Threads {
    /// Finds the layout.
    pub fn find(fields: &impl Fields) -> Result<Threads, Missing> {
        Ok(Threads {
            layout: Layout::find(fields)?,
            environment: OnceLock::new(),
        })
    }

    /// Learns the distance from the calling thread, which is returned.
    ///
    /// # Safety
    /// `env` must be the JNI environment of the calling thread, which is attached, without a pending exception.
    pub unsafe fn learn(&self, env: *mut JNIEnv) -> Result<JavaThread, Missing> {
        // SAFETY: as the caller promised; the reference is good until it is deleted.
        unsafe {
            let thread = current_thread(env).ok_or(NO_THREAD)?;
            let learned = self.learn_from(env, thread);
            ((**env).v1_6.DeleteLocalRef)(env, thread);
            learned
        }
    }

    /// Learns the distance from the calling thread, whose `java.lang.Thread` is `thread`. Runs no Java code.
    ///
    /// # Safety
    /// As for [`Threads::learn`], and `thread` must be a reference to the platform thread.
    pub unsafe fn learn_from(
        &self,
        env: *mut JNIEnv,
        thread: jobject,
    ) -> Result<JavaThread, Missing> {
        // SAFETY: as the caller promised.
        let thread = unsafe { platform_thread(env, thread) }.ok_or(NO_THREAD)?;
        let distance = (env as usize).checked_sub(thread.0).ok_or(NO_THREAD)?;
        self.environment.get_or_init(|| distance);
        Ok(thread)
    }

    /// The thread with the JNI environment at this address; `None` before the distance is known.
    #[inline]
    pub fn of_environment(&self, env: usize) -> Option<JavaThread> {
        Some(JavaThread(env.wrapping_sub(*self.environment.get()?)))
    }

    /// The distance from a thread to its JNI environment, once it is known.
    pub fn environment(&self) -> Option<usize> {
        self.environment.get().copied()
    }
}

/// The VM's description of the platform thread whose `java.lang.Thread` is `thread`; `None` if the thread has not begun, or has
/// ended. Runs no Java code.
///
/// # Safety
/// `env` must be the JNI environment of the calling thread, which is attached, without a pending exception, and `thread` a
/// reference.
pub unsafe fn platform_thread(env: *mut JNIEnv, thread: jobject) -> Option<JavaThread> {
    // SAFETY: as the caller promised; an exception for what is missing is cleared, and the local reference is deleted.
    let thread = unsafe {
        let functions = &(**env).v1_6;
        let class = (functions.GetObjectClass)(env, thread);
        let field = (functions.GetFieldID)(env, class, c"eetop".as_ptr(), c"J".as_ptr());
        (functions.ExceptionClear)(env);
        (functions.DeleteLocalRef)(env, class);
        if field.is_null() {
            return None;
        }
        (functions.GetLongField)(env, thread, field) as usize
    };
    (thread != 0).then_some(JavaThread(thread))
}

const NO_THREAD: Missing =
    Missing::Unexpected("java.lang.Thread does not lead to the VM's thread (eetop)");

/// A local reference to the `java.lang.Thread` of the calling platform thread.
///
/// # Safety
/// As for [`Threads::learn`].
unsafe fn current_thread(env: *mut JNIEnv) -> Option<jobject> {
    // SAFETY: as the caller promised; an exception for what is missing is cleared, and the class is deleted.
    unsafe {
        let functions = &(**env).v1_6;
        let class = (functions.FindClass)(env, c"java/lang/Thread".as_ptr());
        if class.is_null() {
            (functions.ExceptionClear)(env);
            return None;
        }
        // A virtual thread has no `eetop`, but its carrier has one.
        let names = [c"currentCarrierThread", c"currentThread"];
        let current = names.into_iter().find_map(|name| {
            let signature = c"()Ljava/lang/Thread;".as_ptr();
            let method = (functions.GetStaticMethodID)(env, class, name.as_ptr(), signature);
            if method.is_null() {
                (functions.ExceptionClear)(env);
                return None;
            }
            let thread: jobject =
                (functions.CallStaticObjectMethodA)(env, class, method, std::ptr::null());
            (functions.ExceptionClear)(env);
            (!thread.is_null()).then_some(thread)
        });
        (functions.DeleteLocalRef)(env, class);
        current
    }
}
