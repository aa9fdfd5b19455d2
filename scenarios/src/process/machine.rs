//! What this machine allows a process.

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::getpid;
use std::fs;
use std::io::{self, IoSliceMut};
use std::path::Path;

/// Whether a process may read its own memory by `process_vm_readv(2)`, as the agent does.
pub fn reads_own_memory() -> io::Result<()> {
    let (from, mut to) = ([7u8; 8], [0u8; 8]);
    let remote = RemoteIoVec {
        base: from.as_ptr().expose_provenance(),
        len: from.len(),
    };
    let read = process_vm_readv(getpid(), &mut [IoSliceMut::new(&mut to)], &[remote])?;
    match (read, to == from) {
        (8, true) => Ok(()),
        _ => Err(io::Error::other("only a part was read")),
    }
}

/// The bytes that a user may still write into the folder `path`.
pub fn free_space(path: &Path) -> io::Result<u64> {
    let data = rustix::fs::statvfs(path)?;
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
