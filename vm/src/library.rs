//! Shared libraries and their exported symbols.

use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A shared library, which is never unloaded.
pub struct Library(*mut c_void);

impl Library {
    /// The library of the VM in this process. The launcher may have loaded it without making it global.
    pub fn find() -> Option<Library> {
        // SAFETY: a plain look-up; RTLD_NOLOAD takes a further handle on what is loaded anyhow.
        let handle =
            unsafe { libc::dlopen(c"libjvm.so".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        (!handle.is_null()).then_some(Library(handle))
    }

    /// The library in `file`. An error says what the loader said.
    pub fn load(file: &Path) -> Result<Library, String> {
        let name = CString::new(file.as_os_str().as_bytes()).map_err(|e| e.to_string())?;
        // SAFETY: the name ends with a zero. The library's own code runs, which the user asks for; the message is this
        // thread's until its next call.
        unsafe {
            let handle = libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
            if !handle.is_null() {
                return Ok(Library(handle));
            }
            let why = libc::dlerror();
            Err(if why.is_null() {
                format!("cannot load {}", file.display())
            } else {
                CStr::from_ptr(why).to_string_lossy().into_owned()
            })
        }
    }

    /// Keeps the code of this library in the process for good: what it has installed, the process may call for as long as it
    /// lives. Without this, a program that closes the library would leave the process a handler of signals that is unmapped.
    pub(crate) fn keep_own() {
        // SAFETY: plain look-ups. The name is the loader's own, and RTLD_NOLOAD loads nothing: it marks what is loaded. Code
        // that is part of the program has no such name, and stays anyhow.
        unsafe {
            let mut own: libc::Dl_info = std::mem::zeroed();
            if libc::dladdr(Library::keep_own as *const c_void, &mut own) != 0 {
                let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
                libc::dlopen(own.dli_fname, flags);
            }
        }
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
