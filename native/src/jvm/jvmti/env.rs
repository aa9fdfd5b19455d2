//! The environment of JVMTI: how its functions are called, memory that the VM allocates, tags of objects, system properties,
//! and functions of HotSpot's own (`jvmtiExtensions.cpp`).

use crate::jvm::jni::{Env, Local, Ref, Vm};
use jni_sys::{jint, jlong};
use std::ffi::{CStr, c_char, c_uchar, c_void};
use std::ptr;
use vm::jvmti::Capability;
pub use vm::jvmti::{Error, JMethodId, ok};

/// A JVMTI environment, `jvmtiEnv*`; usable from any attached thread.
#[repr(transparent)]
#[derive(Copy, Clone)]
pub struct Jvmti(pub(super) vm::jvmti::Env);

/// Calls a function by its name.
macro_rules! call {
    ($jvmti:expr, $function:ident, $($argument:expr),* $(,)?) => {{
        // SAFETY: the arguments have the types of JVMTI; pointers are valid for the call.
        unsafe { ($jvmti.0.functions().$function)($jvmti.0, $($argument),*) }
    }};
}
pub(super) use call;

impl Jvmti {
    /// Asks the VM for an environment.
    pub fn new(vm: Vm) -> Option<Jvmti> {
        // SAFETY: the VM of this process, which calls the agent on an attached thread.
        unsafe { vm::jvmti::Env::new(vm.raw()) }.map(Jvmti)
    }

    /// AddCapabilities.
    pub fn add_capabilities(self, capabilities: &[Capability]) -> Result<(), Error> {
        self.0.add_capabilities(capabilities)
    }
}

/// GetVirtualThread of a VM that has the function: JDK 21 and later.
#[derive(Copy, Clone)]
pub struct GetVirtualThread(vm::jvmti::GetVirtualThread);

impl Jvmti {
    /// GetVirtualThread, if the VM has it.
    pub fn get_virtual_thread(self) -> Option<GetVirtualThread> {
        self.0.get_virtual_thread().map(GetVirtualThread)
    }
}

impl GetVirtualThread {
    /// The virtual thread that the platform thread `carrier` carries, if it carries one. The caller must
    /// not be a thread that is mounting or unmounting a virtual thread: the VM waits for all that do.
    pub fn carried_by<'e>(self, jvmti: Jvmti, env: Env<'e>, carrier: Ref<'_>) -> Option<Local<'e>> {
        // SAFETY: a reference to a thread; the answer is null, or a local reference that the VM has just made.
        unsafe { env.adopt(self.0.carried_by(jvmti.0, carrier.raw())) }
    }
}

impl Jvmti {
    /// Allocate: a copy of `bytes` that the VM may take over.
    pub(super) fn copy_out(self, bytes: &[u8]) -> Result<*mut c_uchar, Error> {
        let mut memory = ptr::null_mut();
        ok(call!(self, Allocate, bytes.len() as jlong, &mut memory))?;
        // SAFETY: freshly allocated with this size.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len()) };
        Ok(memory)
    }

    /// # Safety
    /// `memory` must be null, or memory that the VM has allocated for the caller.
    unsafe fn deallocate(self, memory: *mut c_void) {
        // SAFETY: as the caller promised.
        unsafe { self.0.deallocate(memory) };
    }

    /// Copies a string that the VM allocated, and frees it.
    ///
    /// # Safety
    /// `string` must be null, or a zero-terminated string that the VM allocated for the caller.
    pub(super) unsafe fn take_string(self, string: *mut c_char) -> String {
        if string.is_null() {
            return String::new();
        }
        // SAFETY: as the caller promised.
        let copy = unsafe { CStr::from_ptr(string) }
            .to_string_lossy()
            .into_owned();
        // SAFETY: as the caller promised.
        unsafe { self.deallocate(string.cast()) };
        copy
    }

    /// Copies an array that the VM allocated, and frees it.
    ///
    /// # Safety
    /// `data` must be null, or `count` values that the VM allocated for the caller.
    pub(super) unsafe fn take_array<T: Copy>(self, data: *mut T, count: jint) -> Vec<T> {
        // SAFETY: as the caller promised.
        unsafe { self.look_at_array(data, count, <[T]>::to_vec) }
    }

    /// Shows an array that the VM allocated to `look`, and frees it.
    ///
    /// # Safety
    /// As [`Jvmti::take_array`].
    pub(super) unsafe fn look_at_array<T, R>(
        self,
        data: *mut T,
        count: jint,
        look: impl FnOnce(&[T]) -> R,
    ) -> R {
        let result = match data.is_null() || count <= 0 {
            true => look(&[]),
            // SAFETY: as the caller promised.
            false => look(unsafe { std::slice::from_raw_parts(data, count as usize) }),
        };
        // SAFETY: as the caller promised.
        unsafe { self.deallocate(data.cast()) };
        result
    }

    /// GetTag. If the object has no tag, SetTag with `fresh`. The event of the object's end has the
    /// tag.
    pub fn tag(self, object: Ref<'_>, fresh: jlong) -> Result<jlong, Error> {
        let (mut tag, object) = (0, object.raw());
        ok(call!(self, GetTag, object, &mut tag))?;
        if tag != 0 {
            return Ok(tag);
        }
        ok(call!(self, SetTag, object, fresh))?;
        Ok(fresh)
    }

    /// GetSystemProperty; empty if the property does not exist.
    pub fn system_property(self, name: &CStr) -> String {
        let mut value = ptr::null_mut();
        call!(self, GetSystemProperty, name.as_ptr(), &mut value);
        // SAFETY: JVMTI gives a zero-terminated string, or leaves the null.
        unsafe { self.take_string(value) }
    }
}
