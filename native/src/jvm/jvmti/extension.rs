//! Functions of HotSpot's own (`jvmtiExtensions.cpp`).

use super::env::{Error, Jvmti, call, ok};
use crate::jvm::jni::{Env, Local, Ref};
use jni_sys::{jint, jobject};
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

/// `jvmtiExtensionFunction`.
type ExtensionFunction = unsafe extern "C" fn(Jvmti, ...) -> Error;

/// `jvmtiExtensionFunctionInfo`.
#[repr(C)]
#[derive(Copy, Clone)]
struct ExtensionFunctionInfo {
    function: Option<ExtensionFunction>,
    id: *const c_char,
    description: *const c_char,
    parameters: jint,
    parameter_infos: *const c_void,
    errors: jint,
    error_codes: *const c_void,
}

/// GetVirtualThread of a VM that has the function: JDK 21 and later.
#[derive(Copy, Clone)]
pub struct GetVirtualThread(ExtensionFunction);

impl Jvmti {
    /// GetVirtualThread, if the VM has it (GetExtensionFunctions).
    pub fn get_virtual_thread(self) -> Option<GetVirtualThread> {
        let (mut count, mut functions) = (0, ptr::null_mut::<ExtensionFunctionInfo>());
        ok(call!(
            self,
            124,
            (*mut jint, *mut *mut ExtensionFunctionInfo),
            &mut count,
            &mut functions
        ))
        .ok()?;
        // SAFETY: the VM returned `count` functions. What these point at would have to be freed
        // piece by piece; this is called once in a VM's life.
        let functions = unsafe { self.take_array(functions, count) };
        let id = c"com.sun.hotspot.functions.GetVirtualThread";
        // SAFETY: the `id` of each is a zero-terminated string that is not freed.
        let named = |info: &&ExtensionFunctionInfo| unsafe { CStr::from_ptr(info.id) } == id;
        let found = functions.iter().find(named)?;
        found.function.map(GetVirtualThread)
    }
}

impl GetVirtualThread {
    /// The virtual thread that the platform thread `carrier` carries, if it carries one. The caller must
    /// not be a thread that is mounting or unmounting a virtual thread: the VM waits for all that do.
    pub fn carried_by<'e>(self, jvmti: Jvmti, env: Env<'e>, carrier: Ref<'_>) -> Option<Local<'e>> {
        let (Self(function), mut thread) = (self, ptr::null_mut());
        let place: *mut jobject = &mut thread;
        // SAFETY: the function is GetVirtualThread, which takes a thread and where to write one.
        ok(unsafe { function(jvmti, carrier.raw(), place) }).ok()?;
        // SAFETY: null, or a local reference that the VM has just made.
        unsafe { env.adopt(thread) }
    }
}
