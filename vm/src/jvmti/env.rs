//! Environments of JVMTI, and HotSpot's own functions.

use super::interface::{Env, Error, ExtensionFunction, ExtensionFunctionInfo};
use jni_sys::{JNI_OK, JavaVM, jint, jobject};
use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};

/// `JVMTI_ERROR_THREAD_SUSPENDED`.
pub const THREAD_SUSPENDED: Error = 14;

/// `JVMTI_VERSION_11`: the first version in which early class hooks and module support are stable.
const VERSION: jint = 0x300B_0000;

/// `Ok` where JVMTI reports no error.
pub fn ok(error: Error) -> Result<(), Error> {
    if error == 0 { Ok(()) } else { Err(error) }
}

impl Env {
    /// Asks the VM for an environment.
    ///
    /// # Safety
    /// `vm` must be the VM of this process, and the calling thread attached.
    pub unsafe fn new(vm: *mut JavaVM) -> Option<Env> {
        let mut env: *mut c_void = ptr::null_mut();
        // SAFETY: as the caller promised.
        let result = unsafe { ((**vm).v1_2.GetEnv)(vm, &raw mut env, VERSION) };
        let env = NonNull::new(env.cast()).filter(|_| result == JNI_OK);
        env.map(Env)
    }

    /// Frees what the VM has allocated.
    ///
    /// # Safety
    /// `memory` must be null, or memory that the VM has allocated for the caller.
    pub unsafe fn deallocate(self, memory: *mut c_void) {
        if !memory.is_null() {
            // SAFETY: as the caller promised.
            unsafe { (self.functions().Deallocate)(self, memory.cast()) };
        }
    }

    /// GetVirtualThread, if the VM has it (GetExtensionFunctions).
    pub fn get_virtual_thread(self) -> Option<GetVirtualThread> {
        let (mut count, mut functions) = (0, ptr::null_mut::<ExtensionFunctionInfo>());
        // SAFETY: the VM writes `count` functions, whose names are zero-terminated. What these point at would have to be
        // freed piece by piece; this is called once in a VM's life.
        unsafe {
            let get = self.functions().GetExtensionFunctions;
            ok(get(self, &raw mut count, &raw mut functions)).ok()?;
            if functions.is_null() {
                return None;
            }
            let infos = std::slice::from_raw_parts(functions, usize::try_from(count).ok()?);
            let id = c"com.sun.hotspot.functions.GetVirtualThread";
            let found = infos.iter().find(|info| CStr::from_ptr(info.id) == id);
            let function = found.and_then(|info| info.function);
            self.deallocate(functions.cast());
            function.map(GetVirtualThread)
        }
    }
}

/// GetVirtualThread of a VM that has the function (`jvmtiExtensions.cpp`): JDK 21 and later.
#[derive(Copy, Clone)]
pub struct GetVirtualThread(ExtensionFunction);

impl GetVirtualThread {
    /// A local reference to the virtual thread that the platform thread `carrier` carries; null if it carries none. The
    /// caller must not be a thread that is mounting or unmounting a virtual thread: the VM waits for all that do.
    ///
    /// # Safety
    /// `carrier` must be a reference to a `java.lang.Thread`.
    pub unsafe fn carried_by(self, env: Env, carrier: jobject) -> jobject {
        let mut thread: jobject = ptr::null_mut();
        // SAFETY: the function takes a thread and where to write one.
        let error = unsafe { (self.0)(env, carrier, &raw mut thread) };
        if error == 0 { thread } else { ptr::null_mut() }
    }
}
