//! Words in a file that other processes may map or read too.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::{io, ptr};

/// Maps the file at `path`, which is made or enlarged as needed. The file stays mapped, and its
/// contents survive the process.
pub fn map<const N: usize>(path: &Path) -> io::Result<&'static [AtomicU64; N]> {
    let size = size_of::<[AtomicU64; N]>();
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    file.set_len(size as u64)?;
    // SAFETY: a new mapping touches no existing memory; the file stays mapped for good.
    let memory = unsafe {
        libc::mmap(
            ptr::null_mut(),
            size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    if memory == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: page-aligned, large enough, never unmapped; atomics take any bytes.
    Ok(unsafe { &*memory.cast() })
}
