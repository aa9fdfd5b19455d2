//! AsyncGetCallTrace: HotSpot's unofficial walker (`share/prims/forte.cpp`).

use crate::jvm::jvmti::{JMethodId, Jvmti};
use crate::jvm::structs::Library;
use jni_sys::JNIEnv;
use oracle::trace::{Frame, Location, MethodKey};
use std::ffi::{c_int, c_void};
use std::mem::transmute;

/// `ASGCT_CallFrame`.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct CallFrame {
    /// BCI, or -3 in a native method.
    pub lineno: c_int,
    /// The method; may be null.
    pub method_id: JMethodId,
}

impl From<CallFrame> for Frame {
    fn from(frame: CallFrame) -> Frame {
        Frame {
            method: MethodKey(frame.method_id as usize),
            location: Location::from_asgct(frame.lineno),
        }
    }
}

/// `ASGCT_CallTrace`.
#[repr(C)]
struct CallTrace {
    env_id: *mut JNIEnv,
    num_frames: c_int,
    frames: *mut CallFrame,
}

/// The entry point.
#[derive(Copy, Clone)]
pub struct Asgct(EntryPoint);

type EntryPoint = unsafe extern "C" fn(*mut CallTrace, c_int, *mut c_void);

impl Asgct {
    /// Looks the symbol up in the VM's own library.
    pub fn find(jvmti: &Jvmti) -> Option<Asgct> {
        let symbol = Library::of(jvmti)?.symbol("AsyncGetCallTrace")?;
        // SAFETY: the symbol has had this signature since JDK 5.
        Some(Asgct(unsafe {
            transmute::<*mut c_void, EntryPoint>(symbol)
        }))
    }

    /// Walks the calling thread into `frames`; the number of frames, or an error code.
    ///
    /// Async-signal-safe, as far as the VM's implementation is.
    ///
    /// # Safety
    /// `env` must be the calling thread's, `frames` valid for `capacity` writes, and
    /// `ucontext` null or a context of the calling thread.
    pub unsafe fn walk(
        self,
        env: *mut JNIEnv,
        frames: *mut CallFrame,
        capacity: c_int,
        ucontext: *mut c_void,
    ) -> c_int {
        let mut trace = CallTrace {
            env_id: env,
            num_frames: 0,
            frames,
        };
        // SAFETY: as this function's own contract says.
        unsafe { (self.0)(&mut trace, capacity, ucontext) };
        trace.num_frames
    }
}
