//! What this machine allows a process.

use std::ffi::CString;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Whether a process may read its own memory by `process_vm_readv(2)`, as the agent does.
pub fn reads_own_memory() -> io::Result<()> {
    let (from, mut to) = (7u64, 0u64);
    let local = libc::iovec {
        iov_base: (&raw mut to).cast(),
        iov_len: size_of::<u64>(),
    };
    let remote = libc::iovec {
        iov_base: (&raw const from).cast_mut().cast(),
        iov_len: size_of::<u64>(),
    };
    // SAFETY: both ranges are words of this function, and the call writes to `to` alone.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    match read {
        8 if to == from => Ok(()),
        -1 => Err(io::Error::last_os_error()),
        _ => Err(io::Error::other("only a part was read")),
    }
}

/// The bytes that a user may still write into the folder `path`.
pub fn free_space(path: &Path) -> io::Result<u64> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let mut data = MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: `path` ends with a zero, and `data` has room for the answer.
    if unsafe { libc::statvfs(path.as_ptr(), data.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has filled it; before that it was all zeroes, which is valid.
    let data = unsafe { data.assume_init() };
    Ok(data.f_bavail.saturating_mul(data.f_frsize))
}

/// The most bytes that a core file may have (`getrlimit(2)`); `None`: any number.
pub fn core_limit() -> io::Result<Option<u64>> {
    let limits = fs::read_to_string("/proc/self/limits")?;
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max core file size"));
    let soft = line.and_then(|line| line.split_whitespace().next());
    match soft {
        Some("unlimited") => Ok(None),
        Some(number) => number.parse().map(Some).map_err(io::Error::other),
        None => Err(io::Error::other(
            "/proc/self/limits has no line for core files",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_answers() {
        assert!(free_space(Path::new("/")).is_ok());
        assert!(free_space(Path::new("/no/such/folder")).is_err());
        assert!(core_limit().is_ok());
    }
}
