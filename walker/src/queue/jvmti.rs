//! The functions of JVMTI that the queue needs.

use jni_sys::{JNI_OK, JNIEnv, JavaVM, jint, jobject};
use std::ffi::c_void;
use std::mem::transmute;
use std::ptr::NonNull;

/// What a `jvmtiEnv*` points at: functions, by their numbers in the JVMTI specification.
type Table = *const [*const c_void; 156];

/// A JVMTI environment with the capability `can_suspend`.
#[derive(Copy, Clone)]
pub struct Jvmti(NonNull<Table>);

// SAFETY: JVMTI environments may be used from every thread (JVMTI, "Environments").
unsafe impl Send for Jvmti {}
// SAFETY: as above.
unsafe impl Sync for Jvmti {}

/// `JVMTI_ERROR_NONE`.
const NONE: jint = 0;

impl Jvmti {
    /// An environment of its own. `None` if the VM has none, or if another agent has `can_suspend`, which only
    /// one agent may have.
    ///
    /// # Safety
    /// `vm` must be the VM of this process, and the calling thread attached.
    pub unsafe fn new(vm: *mut JavaVM) -> Option<Jvmti> {
        const VERSION_11: jint = 0x300b_0000;
        const ADD_CAPABILITIES: usize = 142;
        // The bit of `can_suspend` in `jvmtiCapabilities`.
        const CAN_SUSPEND: u128 = 1 << 20;
        let mut env: *mut c_void = std::ptr::null_mut();
        // SAFETY: as the caller promised; the number and the types are those of the specification.
        unsafe {
            if ((**vm).v1_2.GetEnv)(vm, &raw mut env, VERSION_11) != JNI_OK {
                return None;
            }
            let jvmti = Jvmti(NonNull::new(env.cast())?);
            let add: unsafe extern "system" fn(Jvmti, *const u128) -> jint =
                transmute(jvmti.function(ADD_CAPABILITIES));
            (add(jvmti, &CAN_SUSPEND) == NONE).then_some(jvmti)
        }
    }

    /// GetCurrentThread: a local reference of the calling thread.
    pub fn current_thread(self) -> Option<jobject> {
        const GET_CURRENT_THREAD: usize = 18;
        let mut thread: jobject = std::ptr::null_mut();
        // SAFETY: the number and the types are those of the specification.
        let error = unsafe {
            let get: unsafe extern "system" fn(Jvmti, *mut jobject) -> jint =
                transmute(self.function(GET_CURRENT_THREAD));
            get(self, &raw mut thread)
        };
        (error == NONE && !thread.is_null()).then_some(thread)
    }

    /// Suspends `thread` while `work` runs; `None` if the thread cannot be suspended, because it has ended or is
    /// suspended already.
    ///
    /// # Safety
    /// `thread` must be a reference to a `java.lang.Thread`.
    pub unsafe fn while_suspended<T>(self, thread: jobject, work: impl FnOnce() -> T) -> Option<T> {
        const SUSPEND_THREAD: usize = 5;
        const RESUME_THREAD: usize = 6;
        // SAFETY: as the caller promised; the numbers and the types are those of the specification.
        unsafe {
            let [suspend, resume] = [SUSPEND_THREAD, RESUME_THREAD].map(|number| {
                transmute::<*const c_void, unsafe extern "system" fn(Jvmti, jobject) -> jint>(
                    self.function(number),
                )
            });
            if suspend(self, thread) != NONE {
                return None;
            }
            let result = work();
            resume(self, thread);
            Some(result)
        }
    }

    fn function(self, number: usize) -> *const c_void {
        // SAFETY: the table outlives the environment.
        unsafe { (**self.0.as_ptr())[number - 1] }
    }
}

/// The VM of an environment.
///
/// # Safety
/// `env` must be the JNI environment of the calling thread.
pub unsafe fn vm_of(env: *mut JNIEnv) -> Option<*mut JavaVM> {
    let mut vm: *mut JavaVM = std::ptr::null_mut();
    // SAFETY: as the caller promised.
    let result = unsafe { ((**env).v1_1.GetJavaVM)(env, &raw mut vm) };
    (result == JNI_OK && !vm.is_null()).then_some(vm)
}
