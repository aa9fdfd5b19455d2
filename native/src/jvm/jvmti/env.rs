//! The environment and its table of functions.
//!
//! The table is an array of pointers; each function is called through its number in the JVMTI
//! specification (`jvmti.h`), which never changes.

use crate::jvm::jni::Vm;
use jni_sys::jint;
use std::ffi::c_void;
use std::ptr::NonNull;

/// `jmethodID`: identifies a method as long as its class is loaded. Any thread may keep it.
#[repr(transparent)]
#[derive(Copy, Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct JMethodId(pub usize);

/// `jvmtiError`; 0 is `JVMTI_ERROR_NONE`.
pub type Error = jint;

/// `JVMTI_VERSION_11`: the first version in which early class hooks and module support are stable.
const VERSION: jint = 0x300B_0000;

/// The number of GetStackTrace.
const ANY_FUNCTION: usize = 104;

/// What a `jvmtiEnv*` points at.
pub(super) type Table = *const [*mut c_void; 156];

/// A JVMTI environment, `jvmtiEnv*`; usable from any attached thread.
#[repr(transparent)]
#[derive(Copy, Clone)]
pub struct Jvmti(pub(super) NonNull<Table>);

// SAFETY: JVMTI environments may be used from every thread (JVMTI, "Environments").
unsafe impl Send for Jvmti {}
// SAFETY: as above.
unsafe impl Sync for Jvmti {}

/// Calls function number `$number` with the given argument types.
macro_rules! call {
    ($jvmti:expr, $number:literal, ($($type:ty),*), $($arg:expr),* $(,)?) => {{
        // SAFETY: the table outlives the environment; the number and the argument types
        // are those of the JVMTI specification; pointers are valid for the call.
        unsafe {
            let function = (**$jvmti.0.as_ptr())[$number - 1];
            let function = std::mem::transmute::<
                *mut std::ffi::c_void,
                unsafe extern "system" fn(
                    $crate::jvm::jvmti::Jvmti,
                    $($type),*
                ) -> $crate::jvm::jvmti::Error,
            >(function);
            function($jvmti, $($arg),*)
        }
    }};
}
pub(super) use call;

pub(super) fn ok(error: Error) -> Result<(), Error> {
    if error == 0 { Ok(()) } else { Err(error) }
}

impl Jvmti {
    /// Asks the VM for an environment.
    pub fn new(vm: Vm) -> Option<Jvmti> {
        vm.interface(VERSION).map(|env| Jvmti(env.cast()))
    }

    /// The address of one of the VM's functions.
    pub fn any_function(self) -> *const c_void {
        // SAFETY: the table outlives the environment.
        unsafe { (**self.0.as_ptr())[ANY_FUNCTION - 1] }
    }
}
