//! The class loaders that a VM never unloads.

use jni_sys::{JNIEnv, jobject};
use std::ffi::CStr;
use std::ptr;

/// The platform loader and the system loader, as local references. Static fields hold both
/// (`jdk.internal.loader.ClassLoaders`, `java.lang.ClassLoader.scl`).
pub(super) struct Loaders {
    env: *mut JNIEnv,
    references: [jobject; 2],
}

impl Loaders {
    /// # Safety
    /// `env` must be the JNI environment of the calling thread, which is attached, without a pending exception, in the
    /// live phase, as long as the value lives.
    pub(super) unsafe fn of_the_jdk(env: *mut JNIEnv) -> Loaders {
        let names = [c"getPlatformClassLoader", c"getSystemClassLoader"];
        Loaders {
            env,
            // SAFETY: as the caller promised.
            references: names.map(|name| unsafe { loader(env, name) }),
        }
    }

    /// The places that refer to the objects; 0 for a loader that could not be had.
    pub(super) fn handles(&self) -> [usize; 2] {
        self.references.map(|reference| reference as usize)
    }
}

impl Drop for Loaders {
    fn drop(&mut self) {
        for reference in self.references {
            // SAFETY: `env` is valid, as for `of_the_jdk`; a null reference is allowed.
            unsafe { ((**self.env).v1_6.DeleteLocalRef)(self.env, reference) }
        }
    }
}

/// What a static method of `java.lang.ClassLoader` returns; null where it throws.
///
/// # Safety
/// As for [`Loaders::of_the_jdk`].
unsafe fn loader(env: *mut JNIEnv, name: &CStr) -> jobject {
    // SAFETY: as the caller promised; the descriptor is that of both methods, and exceptions are cleared.
    unsafe {
        let functions = &(**env).v1_6;
        let class = (functions.FindClass)(env, c"java/lang/ClassLoader".as_ptr());
        (functions.ExceptionClear)(env);
        if class.is_null() {
            return ptr::null_mut();
        }
        let descriptor = c"()Ljava/lang/ClassLoader;".as_ptr();
        let method = (functions.GetStaticMethodID)(env, class, name.as_ptr(), descriptor);
        (functions.ExceptionClear)(env);
        let loader = if method.is_null() {
            ptr::null_mut()
        } else {
            (functions.CallStaticObjectMethodA)(env, class, method, ptr::null())
        };
        (functions.ExceptionClear)(env);
        (functions.DeleteLocalRef)(env, class);
        loader
    }
}
