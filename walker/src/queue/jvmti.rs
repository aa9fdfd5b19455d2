//! The functions of JVMTI that the queue needs.

use jni_sys::{JNI_OK, JNIEnv, JavaVM, jint, jobject};
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr::NonNull;

/// What a `jvmtiEnv*` points at: functions, by their numbers in the JVMTI specification.
type Table = *const [*const c_void; 156];

/// A JVMTI environment that may suspend threads.
#[derive(Copy, Clone)]
pub struct Jvmti {
    env: Raw,
    get_virtual_thread: Option<ExtensionFunction>,
}

/// A `jvmtiEnv*`.
#[derive(Copy, Clone)]
#[repr(transparent)]
struct Raw(NonNull<Table>);

// SAFETY: JVMTI environments may be used from every thread (JVMTI, "Environments").
unsafe impl Send for Raw {}
// SAFETY: as above.
unsafe impl Sync for Raw {}

/// `jvmtiExtensionFunction`.
type ExtensionFunction = unsafe extern "C" fn(Raw, ...) -> jint;

/// `jvmtiExtensionFunctionInfo`.
#[repr(C)]
struct ExtensionFunctionInfo {
    function: Option<ExtensionFunction>,
    id: *const c_char,
    description: *const c_char,
    parameters: jint,
    parameter_infos: *const c_void,
    errors: jint,
    error_codes: *const c_void,
}

/// A frame as JVMTI gives it: `jvmtiFrameInfo`.
#[repr(C)]
#[derive(Copy, Clone, Debug, Default)]
pub struct Listed {
    /// The `jmethodID`.
    pub method: usize,
    /// The BCI; -1 in a native method.
    pub location: i64,
}

/// Deeper stacks are not listed.
const MOST_LISTED: usize = 1 << 12;

/// `JVMTI_ERROR_NONE`, `JVMTI_ERROR_THREAD_SUSPENDED`.
const NONE: jint = 0;
const THREAD_SUSPENDED: jint = 14;

/// Why a thread is not suspended.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum NotSuspended {
    /// Somebody else has suspended the thread.
    Already,
    /// The thread has ended, or the VM does not suspend this thread.
    Refused,
}

impl Jvmti {
    /// An environment of its own. `None` if the VM has none, or if another agent has `can_suspend`, which only
    /// one agent may have.
    ///
    /// # Safety
    /// `vm` must be the VM of this process, and the calling thread attached.
    pub unsafe fn new(vm: *mut JavaVM) -> Option<Jvmti> {
        const VERSION_11: jint = 0x300b_0000;
        const ADD_CAPABILITIES: usize = 142;
        // The bits of `can_suspend` and of `can_support_virtual_threads` in `jvmtiCapabilities`.
        const CAN_SUSPEND: u128 = 1 << 20;
        const CAN_SUPPORT_VIRTUAL_THREADS: u128 = 1 << 44;
        let mut env: *mut c_void = std::ptr::null_mut();
        // SAFETY: as the caller promised; the number and the types are those of the specification.
        unsafe {
            if ((**vm).v1_2.GetEnv)(vm, &raw mut env, VERSION_11) != JNI_OK {
                return None;
            }
            let env = Raw(NonNull::new(env.cast())?);
            let add: unsafe extern "system" fn(Raw, *const u128) -> jint =
                transmute(env.function(ADD_CAPABILITIES));
            if add(env, &CAN_SUSPEND) != NONE {
                return None;
            }
            // Before JDK 21 there is no such capability.
            let has_virtual_threads = add(env, &CAN_SUPPORT_VIRTUAL_THREADS) == NONE;
            let get_virtual_thread =
                || env.extension(c"com.sun.hotspot.functions.GetVirtualThread");
            Some(Jvmti {
                env,
                get_virtual_thread: has_virtual_threads.then(get_virtual_thread).flatten(),
            })
        }
    }

    /// GetCurrentThread: a local reference of the calling thread, which must be no virtual thread.
    pub fn current_thread(self) -> Option<jobject> {
        const GET_CURRENT_THREAD: usize = 18;
        let mut thread: jobject = std::ptr::null_mut();
        // SAFETY: the number and the types are those of the specification.
        let error = unsafe {
            let get: unsafe extern "system" fn(Raw, *mut jobject) -> jint =
                transmute(self.env.function(GET_CURRENT_THREAD));
            get(self.env, &raw mut thread)
        };
        (error == NONE && !thread.is_null()).then_some(thread)
    }

    /// SuspendThread.
    ///
    /// # Safety
    /// `thread` must be a reference to a `java.lang.Thread`.
    pub unsafe fn suspend(self, thread: jobject) -> Result<(), NotSuspended> {
        const SUSPEND_THREAD: usize = 5;
        // SAFETY: as the caller promised.
        match unsafe { self.of_thread(SUSPEND_THREAD, thread) } {
            NONE => Ok(()),
            THREAD_SUSPENDED => Err(NotSuspended::Already),
            _ => Err(NotSuspended::Refused),
        }
    }

    /// ResumeThread.
    ///
    /// # Safety
    /// `thread` must be a reference to a `java.lang.Thread`.
    pub unsafe fn resume(self, thread: jobject) {
        const RESUME_THREAD: usize = 6;
        // SAFETY: as the caller promised.
        unsafe { self.of_thread(RESUME_THREAD, thread) };
    }

    /// A local reference to the virtual thread that the platform thread `carrier` carries; null if it carries none.
    /// The calling thread must not be about to mount or unmount a virtual thread.
    ///
    /// # Safety
    /// `carrier` must be a reference to a `java.lang.Thread`.
    pub unsafe fn carried_by(self, carrier: jobject) -> jobject {
        let mut thread: jobject = std::ptr::null_mut();
        let Some(get) = self.get_virtual_thread else {
            return thread;
        };
        // SAFETY: the function takes a thread and where to write one (`jvmtiExtensions.cpp`).
        match unsafe { get(self.env, carrier, &raw mut thread) } {
            NONE => thread,
            _ => std::ptr::null_mut(),
        }
    }

    /// GetStackTrace: all frames, callees first; `None` if there are too many.
    ///
    /// # Safety
    /// `thread` must be a reference to a `java.lang.Thread`.
    pub unsafe fn stack_trace(self, thread: jobject) -> Option<Vec<Listed>> {
        const GET_STACK_TRACE: usize = 104;
        type Get =
            unsafe extern "system" fn(Raw, jobject, jint, jint, *mut Listed, *mut jint) -> jint;
        let mut frames = vec![Listed::default(); MOST_LISTED];
        let mut count: jint = 0;
        // SAFETY: as the caller promised; there is room for so many frames.
        let error = unsafe {
            let get: Get = transmute(self.env.function(GET_STACK_TRACE));
            let (first, room) = (frames.as_mut_ptr(), MOST_LISTED as jint);
            get(self.env, thread, 0, room, first, &raw mut count)
        };
        let count = usize::try_from(count).ok()?;
        frames.truncate(count);
        (error == NONE && count < MOST_LISTED).then_some(frames)
    }

    /// # Safety
    /// The function of this number must take a thread, which `thread` must be.
    unsafe fn of_thread(self, number: usize, thread: jobject) -> jint {
        // SAFETY: as the caller promised.
        unsafe {
            let function: unsafe extern "system" fn(Raw, jobject) -> jint =
                transmute(self.env.function(number));
            function(self.env, thread)
        }
    }
}

impl Raw {
    fn function(self, number: usize) -> *const c_void {
        // SAFETY: the table outlives the environment.
        unsafe { (**self.0.as_ptr())[number - 1] }
    }

    /// The function of HotSpot's own with this name. The VM's answer is not freed: it is asked for once.
    fn extension(self, name: &CStr) -> Option<ExtensionFunction> {
        const GET_EXTENSION_FUNCTIONS: usize = 124;
        let (mut count, mut infos) = (0, std::ptr::null_mut::<ExtensionFunctionInfo>());
        // SAFETY: the number and the types are those of the specification, and the VM has written `count` infos,
        // whose names are zero-terminated.
        unsafe {
            type Get =
                unsafe extern "system" fn(Raw, *mut jint, *mut *mut ExtensionFunctionInfo) -> jint;
            let get: Get = transmute(self.function(GET_EXTENSION_FUNCTIONS));
            if get(self, &raw mut count, &raw mut infos) != NONE || infos.is_null() {
                return None;
            }
            let mut infos = std::slice::from_raw_parts(infos, count as usize).iter();
            infos.find(|info| CStr::from_ptr(info.id) == name)?.function
        }
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
