//! Sets of signals, as the kernel keeps a thread's mask.

use std::ffi::c_int;
use std::ptr;

/// The number of signals of Linux, and 1: room for a value of each.
pub const SIGNALS: usize = 65;

/// The signals 1 to 64, each a bit.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct SignalSet(u64);

impl SignalSet {
    /// The signals that the calling thread blocks.
    pub fn blocked() -> SignalSet {
        // SAFETY: all zeros are a value of this type, and without a new set the call only writes the old one.
        unsafe {
            let mut mask = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_SETMASK, ptr::null(), &mut mask);
            SignalSet::of(&mask)
        }
    }

    /// The set of the kernel's mask. Async-signal-safe.
    pub fn of(mask: &libc::sigset_t) -> SignalSet {
        // The C library has room for 1,024 signals; the kernel has 64, and writes no more.
        // SAFETY: the type has at least one word, and is plain data.
        SignalSet(unsafe { ptr::from_ref(mask).cast::<u64>().read() })
    }

    /// The set as a word.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The set that [`SignalSet::bits`] gave.
    pub fn from_bits(bits: u64) -> SignalSet {
        SignalSet(bits)
    }

    /// The signals of this set that are not in `other`.
    pub fn without(self, other: SignalSet) -> SignalSet {
        SignalSet(self.0 & !other.0)
    }

    /// The signals, in order.
    pub fn signals(self) -> impl Iterator<Item = c_int> {
        (1..SIGNALS as c_int).filter(move |signal| self.0 >> (signal - 1) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_signal_is_in_the_set() {
        let before = SignalSet::blocked();
        // SAFETY: the set is made by the calls, and the mask is put back.
        unsafe {
            let (mut set, mut old) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, libc::SIGWINCH);
            libc::sigaddset(&mut set, libc::SIGRTMAX());
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut old);
            let more = SignalSet::blocked().without(before);
            libc::pthread_sigmask(libc::SIG_SETMASK, &old, ptr::null_mut());
            let signals: Vec<c_int> = more.signals().collect();
            assert_eq!(signals, [libc::SIGWINCH, libc::SIGRTMAX()]);
        }
        assert_eq!(SignalSet::blocked(), before);
    }
}
