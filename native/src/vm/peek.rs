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

/// Copies up to `length` bytes from `address`.
pub fn peek_bytes(address: usize, length: usize) -> Vec<u8> {
    (0..length)
        .map_while(|i| peek(address.checked_add(i)?))
        .collect()
}

/// Copies a zero-terminated string of at most 256 bytes.
pub fn peek_text(address: usize) -> Option<String> {
    let bytes: Vec<u8> = (0..256)
        .map_while(|i| peek::<u8>(address.checked_add(i)?).filter(|&byte| byte != 0))
        .collect();
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
        assert_eq!(peek_text(c"abc".as_ptr() as usize).as_deref(), Some("abc"));
    }
}
