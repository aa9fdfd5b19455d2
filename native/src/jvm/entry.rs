//! The agent's entry point.

use std::ffi::{CStr, c_char};

/// Defines the function that the VM calls at its start, before any Java code runs (JVMTI, "Agent
/// Start-Up"). The function passes the VM and the agent's options to the body, which returns 0, or
/// another number if the agent cannot start.
macro_rules! on_load {
    (|$vm:ident, $options:ident| $body:expr) => {
        /// The VM calls this at its start.
        #[allow(unsafe_code, reason = "the VM finds the function by its name")]
        #[unsafe(no_mangle)]
        extern "system" fn Agent_OnLoad(
            $vm: $crate::jvm::jni::Vm,
            options: $crate::jvm::entry::Options,
            _: *mut std::ffi::c_void,
        ) -> jni_sys::jint {
            let $options = &options.text();
            $body
        }
    };
}
pub(crate) use on_load;

/// The options of an agent, as the VM passes them.
#[repr(transparent)]
pub struct Options(*const c_char);

impl Options {
    /// The text; empty if there is none.
    pub fn text(&self) -> String {
        if self.0.is_null() {
            return String::new();
        }
        // SAFETY: only the VM makes this, of a zero-terminated string.
        let text = unsafe { CStr::from_ptr(self.0) };
        text.to_string_lossy().into_owned()
    }
}
