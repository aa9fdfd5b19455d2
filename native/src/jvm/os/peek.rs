//! Reading the VM's memory without the risk of a fault: what was there a moment ago may be
//! gone by now.

use std::mem::MaybeUninit;

/// Copies a value from `address`; `None` if it cannot be read.
pub fn peek<T: Copy>(address: usize) -> Option<T> {
    let mut value = MaybeUninit::<T>::uninit();
    let size = size_of::<T>();
    let local = libc::iovec {
        iov_base: value.as_mut_ptr().cast(),
        iov_len: size,
    };
    let remote = libc::iovec {
        iov_base: address as *mut _,
        iov_len: size,
    };
    // SAFETY: the kernel writes to `value` only, and answers with an error where `address`
    // cannot be read.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    // SAFETY: all bytes were written; the callers' types take any bytes.
    (read == size as isize).then(|| unsafe { value.assume_init() })
}

/// Copies up to `length` bytes from `address`, a page at a time: of one that cannot be read
/// nothing comes.
pub fn peek_bytes(address: usize, length: usize) -> Vec<u8> {
    const PAGE: usize = 1 << 12;
    let mut bytes = vec![0_u8; length];
    let mut done = 0;
    while done < length {
        let Some(from) = address.checked_add(done) else {
            break;
        };
        let part = (length - done).min(PAGE - from % PAGE);
        let local = libc::iovec {
            iov_base: bytes[done..].as_mut_ptr().cast(),
            iov_len: part,
        };
        let remote = libc::iovec {
            iov_base: from as *mut _,
            iov_len: part,
        };
        // SAFETY: the kernel writes to `bytes` only, `part` of what is left of them.
        let read = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
        if read != part as isize {
            break;
        }
        done += part;
    }
    bytes.truncate(done);
    bytes
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
        let here = 0x1234_5678_9abc_def0_u64;
        assert_eq!(peek(std::ptr::from_ref(&here) as usize), Some(here));
        assert_eq!(peek::<u64>(8), None);
        assert!(peek_bytes(8, 4).is_empty());
        let many: Vec<u8> = (0..10_000).map(|i| i as u8).collect();
        assert_eq!(peek_bytes(many.as_ptr() as usize, many.len()), many);
        assert_eq!(peek_text(c"abc".as_ptr() as usize).as_deref(), Some("abc"));
    }
}
