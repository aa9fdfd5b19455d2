//! The VM's shared library and its exported symbols.

use crate::jvm::jvmti::Jvmti;
use std::ffi::{CString, c_void};

/// The VM's library.
pub struct Library(*mut c_void);

impl Library {
    /// The library with JVMTI's functions. The launcher may have loaded it without making it
    /// global.
    pub fn of(jvmti: Jvmti) -> Option<Library> {
        // SAFETY: plain look-ups; RTLD_NOLOAD takes a further handle on what is loaded anyhow.
        unsafe {
            let mut info: libc::Dl_info = std::mem::zeroed();
            if libc::dladdr(jvmti.any_function(), &mut info) == 0 || info.dli_fname.is_null() {
                return None;
            }
            let handle = libc::dlopen(info.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            (!handle.is_null()).then_some(Library(handle))
        }
    }

    /// The address of an exported symbol.
    pub fn symbol(&self, name: &str) -> Option<*mut c_void> {
        let name = CString::new(name).ok()?;
        // SAFETY: a valid handle and a zero-terminated name.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    }
}
