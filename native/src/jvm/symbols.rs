//! Names for addresses of native code.

use std::ffi::CStr;

/// The name of the file of the library at `address`.
pub fn library(address: usize) -> Option<String> {
    // SAFETY: as in `describe`.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let found = libc::dladdr(address as *const _, &mut info) != 0 && !info.dli_fname.is_null();
        let path = found.then(|| CStr::from_ptr(info.dli_fname).to_string_lossy())?;
        path.rsplit('/').next().map(Into::into)
    }
}

/// The library at `address`, with the offset there and, if the library exports it, the function
/// before the address.
pub fn describe(address: usize) -> String {
    // SAFETY: dladdr only looks the address up; the names it gives live as long as the library.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address as *const _, &mut info) == 0 || info.dli_fname.is_null() {
            return "no library".into();
        }
        let path = CStr::from_ptr(info.dli_fname).to_string_lossy();
        let file = path.rsplit('/').next().unwrap_or_default();
        let offset = address.wrapping_sub(info.dli_fbase as usize);
        match info.dli_sname.is_null() {
            true => format!("{file}+{offset:#x}"),
            false => {
                let name = CStr::from_ptr(info.dli_sname).to_string_lossy();
                format!("{file}+{offset:#x}, after {name}")
            }
        }
    }
}
