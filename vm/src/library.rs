//! The VM's shared library and its exported symbols.

use std::ffi::{CString, c_void};

/// The VM's library, which is never unloaded.
pub struct Library(*mut c_void);

impl Library {
    /// The library of the VM in this process. The launcher may have loaded it without making it global.
    pub fn find() -> Option<Library> {
        // SAFETY: a plain look-up; RTLD_NOLOAD takes a further handle on what is loaded anyhow.
        let handle =
            unsafe { libc::dlopen(c"libjvm.so".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        (!handle.is_null()).then_some(Library(handle))
    }

    /// The address of an exported symbol.
    pub fn symbol(&self, name: &str) -> Option<*mut c_void> {
        let name = CString::new(name).ok()?;
        // SAFETY: a valid handle and a zero-terminated name.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    }

    /// The value of an exported word of 64 bits.
    ///
    /// # Safety
    /// The symbol, if it is there, must be such a word.
    pub(crate) unsafe fn word(&self, name: &str) -> Option<usize> {
        let address = self.symbol(name)?;
        // SAFETY: as the caller promised.
        Some(unsafe { *address.cast::<u64>() } as usize)
    }
}
