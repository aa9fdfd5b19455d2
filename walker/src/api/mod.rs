//! The C interface: `include/profile2.h` says what each function promises.
//!
//! * [`abi`]: its structs and constants;
//! * [`trace`]: the function AsyncGetStackTrace;
//! * [`iterator`]: the frame iterator;
//! * [`queue`]: the safepoint queue;
//! * [`names`]: methods and classes;
//! * [`thread_state`]: what the calling thread does;
//! * [`context`]: the context of a signal handler.

pub mod abi;
pub mod context;
pub mod iterator;
pub mod names;
pub mod queue;
pub mod thread_state;
pub mod trace;

use crate::layout::Vm;
use abi::NOT_READY;
use jni_sys::JNIEnv;
use std::ffi::c_int;

/// See `profile2.h`.
///
/// # Safety
/// `env` must be the JNI environment of the calling thread, in the live phase, without a pending
/// exception.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ASGST_Initialize(env: *mut JNIEnv) -> c_int {
    if env.is_null() {
        return NOT_READY;
    }
    // SAFETY: as the caller promised.
    match unsafe { Vm::learn(env) } {
        Ok(_) => 0,
        Err(_) => NOT_READY,
    }
}

/// See `profile2.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ASGST_Version() -> c_int {
    VERSION
}

/// `ASGST_VERSION` of a header of this package's version.
const VERSION: c_int = number(env!("CARGO_PKG_VERSION_MAJOR")) * 1_000_000
    + number(env!("CARGO_PKG_VERSION_MINOR")) * 1_000
    + number(env!("CARGO_PKG_VERSION_PATCH"));

const fn number(text: &str) -> c_int {
    match c_int::from_str_radix(text, 10) {
        Ok(number) => number,
        Err(_) => panic!("cargo gives numbers"),
    }
}

/// See `profile2.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ASGST_Capabilities() -> c_int {
    const REGISTER_QUEUE: c_int = 1;
    match Vm::get() {
        Some(_) => REGISTER_QUEUE,
        None => 0,
    }
}
