//! Names for addresses of native code.

use super::build_id;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where an address is.
struct Found {
    /// The name of the library's file.
    library: String,
    /// The distance from the start of the library.
    offset: usize,
    /// The exported function before the address, if there is one.
    function: Option<String>,
}

impl Found {
    /// As the VM's reports of crashes have places.
    fn place(&self) -> String {
        format!("{}+{:#x}", self.library, self.offset)
    }
}

/// Asks the dynamic linker for the library at `address`, and lets `read` read the answer and the library's file.
fn look_up<T>(address: usize, read: impl FnOnce(&libc::Dl_info, &CStr) -> T) -> Option<T> {
    // SAFETY: dladdr only looks the address up; the names it gives live as long as the library.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address as *const _, &mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        Some(read(&info, CStr::from_ptr(info.dli_fname)))
    }
}

fn find(address: usize) -> Option<Found> {
    look_up(address, |info, file| {
        let path = file.to_string_lossy();
        // SAFETY: the name lives as long as the library, and is copied.
        let function =
            (!info.dli_sname.is_null()).then(|| unsafe { CStr::from_ptr(info.dli_sname) });
        Found {
            library: path.rsplit('/').next().unwrap_or_default().into(),
            offset: address.wrapping_sub(info.dli_fbase as usize),
            function: function.map(|name| name.to_string_lossy().into_owned()),
        }
    })
}

/// The file of the library at `address`, as it was loaded.
pub fn file(address: usize) -> Option<PathBuf> {
    look_up(address, |_, file| {
        PathBuf::from(OsStr::from_bytes(file.to_bytes()))
    })
}

/// The name of the file of the library at `address`.
pub fn library(address: usize) -> Option<String> {
    find(address).map(|found| found.library)
}

/// The name of the file of the library at `address`; and its build, if it is no library of the JDK's own: two JDKs may bring
/// different ones.
pub fn library_and_build(address: usize, jdk: &Path) -> Option<(String, Option<String>)> {
    let (base, file) = look_up(address, |info, file| {
        let file = PathBuf::from(OsStr::from_bytes(file.to_bytes()));
        (info.dli_fbase as usize, file)
    })?;
    let name = file.file_name()?.to_string_lossy().into_owned();
    let build = if file.starts_with(jdk) {
        None
    } else {
        build_id::of_library_at(base)
    };
    Some((name, build))
}

/// The library at `address`, with the offset there.
pub fn place(address: usize) -> String {
    find(address).map_or_else(|| "code of no library".into(), |found| found.place())
}

/// As [`place`], with the exported function before the address, if there is one.
pub fn describe(address: usize) -> String {
    let Some(found) = find(address) else {
        return "no library".into();
    };
    let place = found.place();
    match found.function {
        Some(name) => format!("{place}, after {name}"),
        None => place,
    }
}
