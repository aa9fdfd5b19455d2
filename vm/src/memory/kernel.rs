//! Reading the VM's memory without the risk of a fault, because memory may be unmapped at any time.
//!
//! The kernel copies the bytes: by `process_vm_readv(2)`, or where that is not allowed (in some
//! containers, under some emulators) from `/proc/self/mem`.

use super::remembered::{self, PAGE};
use hotspot::memory::Memory;
use std::fmt;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

/// Types for which any bytes are a valid value.
///
/// # Safety
/// Each pattern of bytes must be a valid value.
pub unsafe trait Plain: Copy {}

// SAFETY: integers take any bytes.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for i8 {}
// SAFETY: as above.
unsafe impl Plain for u16 {}
// SAFETY: as above.
unsafe impl Plain for i32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for usize {}

/// The way in which memory is read.
enum Way {
    /// By `process_vm_readv(2)`.
    ProcessVm {
        /// This process. `getpid(2)` is a system call too.
        own: libc::pid_t,
    },
    /// From `/proc/self/mem`.
    OwnMem(File),
}

/// Why no memory can be read: the kernel's error for each way.
#[derive(Debug)]
pub struct CannotRead {
    process_vm: io::Error,
    own_mem: io::Error,
}

impl fmt::Display for CannotRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CannotRead {
            process_vm,
            own_mem,
        } = self;
        write!(
            f,
            "cannot read memory: process_vm_readv: {process_vm}; /proc/self/mem: {own_mem}"
        )
    }
}

/// Whether memory can be read at all. If not, [`peek`] and similar functions never return a value.
pub fn can_read() -> Result<(), &'static CannotRead> {
    way().map(|_| ())
}

/// The way that works on this system, found by reading a word of this library.
fn way() -> Result<&'static Way, &'static CannotRead> {
    static WAY: OnceLock<Result<Way, CannotRead>> = OnceLock::new();
    let own_mem = || File::open("/proc/self/mem").map(Way::OwnMem);
    let find = || choose(|| Ok(Way::of_kernel()), own_mem);
    WAY.get_or_init(find).as_ref()
}

/// The first way that works.
fn choose(
    process_vm: impl FnOnce() -> io::Result<Way>,
    own_mem: impl FnOnce() -> io::Result<Way>,
) -> Result<Way, CannotRead> {
    let works = |way: Way| way.try_out().map(|()| way);
    let process_vm = match process_vm().and_then(works) {
        Ok(way) => return Ok(way),
        Err(error) => error,
    };
    own_mem().and_then(works).map_err(|own_mem| CannotRead {
        process_vm,
        own_mem,
    })
}

impl Way {
    fn of_kernel() -> Way {
        // SAFETY: `getpid(2)` has no preconditions.
        let own = unsafe { libc::getpid() };
        Way::ProcessVm { own }
    }

    /// Copies bytes from `address` to `into`, up to the length of `into`. Returns how many bytes
    /// could be read.
    fn read(&self, address: usize, into: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
        match self {
            Way::ProcessVm { own } => {
                let local = libc::iovec {
                    iov_base: into.as_mut_ptr().cast(),
                    iov_len: into.len(),
                };
                let remote = libc::iovec {
                    iov_base: address as *mut _,
                    iov_len: into.len(),
                };
                // SAFETY: the kernel writes to `into` only, and answers with an error where
                // `address` cannot be read.
                let read = unsafe { libc::process_vm_readv(*own, &local, 1, &remote, 1, 0) };
                usize::try_from(read).map_err(|_| io::Error::last_os_error())
            }
            Way::OwnMem(file) => {
                into.fill(MaybeUninit::new(0));
                // SAFETY: all bytes have just been written.
                let into = unsafe { &mut *(std::ptr::from_mut(into) as *mut [u8]) };
                file.read_at(into, address as u64)
            }
        }
    }

    fn try_out(&self) -> io::Result<()> {
        let word = 0x5ac_u64;
        if self.value::<u64>(std::ptr::from_ref(&word) as usize)? == word {
            Ok(())
        } else {
            Err(io::Error::other("it reads something else"))
        }
    }

    fn value<T: Plain>(&self, address: usize) -> io::Result<T> {
        let mut value = MaybeUninit::<T>::uninit();
        // SAFETY: the bytes of `value`, which may be uninitialised in both types.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(value.as_mut_ptr().cast(), size_of::<T>()) };
        let read = self.read(address, bytes)?;
        match read == size_of::<T>() {
            // SAFETY: all bytes were written, and the type takes any.
            true => Ok(unsafe { value.assume_init() }),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// Copies a value from `address`; `None` if it cannot be read.
pub fn peek<T: Plain>(address: usize) -> Option<T> {
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY: the bytes of `value`, which are written and not read.
    let bytes =
        unsafe { std::slice::from_raw_parts_mut(value.as_mut_ptr().cast(), size_of::<T>()) };
    match remembered::read(address, bytes, page) {
        Some(true) => {
            // SAFETY: all bytes were written, and the type takes any.
            Some(unsafe { value.assume_init() })
        }
        Some(false) => None,
        None => way().ok()?.value(address).ok(),
    }
}

/// Copies the page from `start` on; `None` if it cannot be read.
fn page(start: usize) -> Option<Box<[u8]>> {
    let bytes = from_kernel(start, PAGE);
    (bytes.len() == PAGE).then(|| bytes.into())
}

/// Copies up to `length` bytes from `address`, page by page. Stops at a page that cannot be read.
pub fn peek_bytes(address: usize, length: usize) -> Vec<u8> {
    remembered::bytes(address, length, page).unwrap_or_else(|| from_kernel(address, length))
}

fn from_kernel(address: usize, length: usize) -> Vec<u8> {
    let Ok(way) = way() else { return vec![] };
    let mut bytes: Vec<u8> = Vec::with_capacity(length);
    while bytes.len() < length {
        let Some(from) = address.checked_add(bytes.len()) else {
            break;
        };
        let part = (length - bytes.len()).min(PAGE - from % PAGE);
        let read = way.read(from, &mut bytes.spare_capacity_mut()[..part]);
        if !read.is_ok_and(|read| read == part) {
            break;
        }
        // SAFETY: `part` more bytes were written.
        unsafe { bytes.set_len(bytes.len() + part) };
    }
    bytes
}

/// The memory of this process, for readers of the VM's structures.
#[derive(Copy, Clone, Debug)]
pub struct OwnMemory;

impl Memory for OwnMemory {
    fn u8(&self, address: usize) -> Option<u8> {
        peek(address)
    }

    fn u16(&self, address: usize) -> Option<u16> {
        peek(address)
    }

    fn u32(&self, address: usize) -> Option<u32> {
        peek::<i32>(address).map(i32::cast_unsigned)
    }

    fn word(&self, address: usize) -> Option<usize> {
        peek(address)
    }

    fn code(&self, address: usize) -> [u8; 16] {
        let mut code = [0; 16];
        let read = peek_bytes(address, code.len());
        code[..read.len()].copy_from_slice(&read);
        code
    }
}

/// Copies a zero-terminated string of at most 256 bytes.
pub fn peek_text(address: usize) -> Option<String> {
    let mut bytes = peek_bytes(address, 256);
    bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(256));
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_there_and_refuses_what_is_not() {
        assert!(can_read().is_ok());
        let here = 0x1234_5678_9abc_def0_u64;
        assert_eq!(peek(std::ptr::from_ref(&here) as usize), Some(here));
        assert_eq!(peek::<u64>(8), None);
        assert!(peek_bytes(8, 4).is_empty());
        let many: Vec<u8> = (0..10_000).map(|i| i as u8).collect();
        assert_eq!(peek_bytes(many.as_ptr() as usize, many.len()), many);
        assert_eq!(peek_text(c"abc".as_ptr() as usize).as_deref(), Some("abc"));
    }

    #[test]
    fn a_way_that_fails_gives_place_to_the_other_and_both_say_why() {
        let forbidden = || Err(io::ErrorKind::PermissionDenied.into());
        let own_mem = || File::open("/proc/self/mem").map(Way::OwnMem);
        assert!(matches!(choose(forbidden, own_mem), Ok(Way::OwnMem(_))));
        let empty = || File::open("/dev/null").map(Way::OwnMem);
        let neither = choose(forbidden, empty).err().expect("neither can read");
        let text = neither.to_string();
        assert!(text.contains("permission denied"), "{text}");
        assert!(text.contains("unexpected end of file"), "{text}");
    }

    #[test]
    fn both_ways_read_the_same() {
        let here = [7_u64, 8, 9];
        let own_mem = Way::OwnMem(File::open("/proc/self/mem").expect("Linux has it"));
        for way in [Way::of_kernel(), own_mem] {
            assert!(way.try_out().is_ok());
            let second = std::ptr::from_ref(&here[1]) as usize;
            assert_eq!(way.value::<u64>(second).ok(), Some(8));
            assert!(way.value::<u64>(8).is_err());
            assert!(way.value::<u64>(usize::MAX - 3).is_err());
        }
    }
}
