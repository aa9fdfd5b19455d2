//! Reading memory that may be unmapped.
//!
//! A walk reads memory that other threads write, and follows words that may be no addresses. Each
//! read is one instruction, whose place a table has. A handler of SIGSEGV and SIGBUS, which is called
//! before the JVM's own handlers, recovers from a fault there, and the read returns nothing. For this the two
//! signals must not be blocked: they are unblocked before the first read of memory that may not stay mapped.
//! A walk has a budget of reads, so that wild memory cannot keep the walk busy.

use super::fault::Guard;
use crate::arch;
use hotspot::memory::Memory;
use std::ops::Range;

/// Whether a fault at this program counter is that of a read of this library, from which its handler recovers. A handler
/// that stands before passes such faults on.
pub fn recovers_at(pc: usize) -> bool {
    arch::resumption(pc).is_some()
}

/// The memory of this process. Only a [`Guard`] gives access, so that no read happens without the
/// handler.
#[derive(Copy, Clone)]
pub struct Live<'a>(&'a Guard);

impl Guard {
    /// The memory that may be read while the guard lives.
    #[inline]
    pub fn memory(&self) -> Live<'_> {
        Live(self)
    }
}

impl Live<'_> {
    /// From now on no more than `reads` are made, until [`Live::allow`] adds some.
    #[inline]
    pub fn limit(&self, reads: u32) {
        self.0.budget.set(reads);
    }

    /// `reads` more may be made.
    #[inline]
    pub fn allow(&self, reads: u32) {
        self.0.budget.add(reads);
    }

    /// Whether nothing more can be read.
    #[inline]
    pub fn is_exhausted(&self) -> bool {
        self.0.budget.is_exhausted()
    }

    /// `range` stays mapped while the guard lives.
    ///
    /// # Safety
    /// It must: if the calling thread blocks SIGSEGV, a fault there ends the process.
    #[inline]
    pub unsafe fn trust(&self, range: Range<usize>) {
        self.0.lasting.add(range);
    }

    /// Reads by `load` at `address`, if the budget is not exhausted.
    #[inline]
    fn read<T>(&self, address: usize, load: impl FnOnce(usize) -> Option<T>) -> Option<T> {
        if !self.0.lasting.has(address) {
            self.0.unblock();
        }
        let budget = &self.0.budget;
        if !budget.take_read() {
            return None;
        }
        let value = load(address);
        if value.is_none() {
            budget.take_fault();
        }
        value
    }
}

impl Memory for Live<'_> {
    #[inline]
    fn u8(&self, address: usize) -> Option<u8> {
        let byte = self.read(address, arch::byte)?;
        Some(byte as u8)
    }

    #[inline]
    fn u16(&self, address: usize) -> Option<u16> {
        let half = self.read(address, arch::half)?;
        Some(half as u16)
    }

    #[inline]
    fn u32(&self, address: usize) -> Option<u32> {
        self.read(address, arch::int)
    }

    #[inline]
    fn word(&self, address: usize) -> Option<usize> {
        self.read(address, arch::word)
    }

    #[inline]
    fn code(&self, address: usize) -> [u8; 16] {
        const PAGE: usize = 1 << 12;
        let mut bytes = [0; 16];
        if let Some(read) = self.read(address, arch::bytes) {
            bytes = read;
        } else if address % PAGE > PAGE - bytes.len() {
            // The remaining bytes are on a page that cannot be read.
            let readable = bytes.iter_mut().take(PAGE - address % PAGE);
            for (at, byte) in readable.enumerate() {
                *byte = self.u8(address.wrapping_add(at)).unwrap_or(0);
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::budget;
    use crate::memory::install;
    use hotspot::memory::Memory;

    #[test]
    fn reads_what_is_there_and_refuses_what_is_not() {
        if let Err(why) = install() {
            println!("skipped: {why}");
            return;
        }
        let guard = Guard::set();
        let memory = guard.memory();
        let here = 0x1234_5678_9abc_def0_usize;
        let address = std::ptr::from_ref(&here) as usize;
        assert_eq!(memory.word(address), Some(here));
        assert_eq!(memory.u32(address), Some(0x9abc_def0));
        assert_eq!(memory.u16(address), Some(0xdef0));
        assert_eq!(memory.u8(address + 7), Some(0x12));
        for nowhere in [0, 8, 1 << 47, usize::MAX - 7, 0x8000_0000_0000_0000] {
            assert_eq!(memory.word(nowhere), None, "{nowhere:#x}");
            assert_eq!(memory.u8(nowhere), None, "{nowhere:#x}");
        }
    }

    #[test]
    fn reads_in_a_handler_that_blocks_faults() {
        if let Err(why) = install() {
            println!("skipped: {why}");
            return;
        }
        let here = [1_usize; 4];
        let place = here.as_ptr_range();
        let (start, end) = (place.start as usize, place.end as usize);
        let blocks = || {
            // SAFETY: plain calls with a set of our own.
            unsafe {
                let mut now: libc::sigset_t = std::mem::zeroed();
                libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut now);
                libc::sigismember(&now, libc::SIGSEGV) == 1
            }
        };
        // SAFETY: plain calls; the old mask is put back. The array stays mapped.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut old = all;
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old);
            let guard = Guard::set();
            let memory = guard.memory();
            memory.trust(start..end);
            let lasting = (memory.word(start), blocks());
            // A read that leaves the range, the first address, and the last.
            let others = [end - 8, 8, usize::MAX].map(|address| memory.word(address));
            let unblocked = !blocks();
            drop(guard);
            let again = blocks();
            libc::pthread_sigmask(libc::SIG_SETMASK, &old, std::ptr::null_mut());
            assert_eq!(lasting, (Some(1), true));
            assert_eq!(others, [Some(1), None, None]);
            assert!(unblocked && again);
        }
    }

    #[test]
    fn what_is_over_the_budget_is_not_read() {
        if let Err(why) = install() {
            println!("skipped: {why}");
            return;
        }
        let here = 7_usize;
        let there = std::ptr::from_ref(&here) as usize;
        let guard = Guard::set();
        let memory = guard.memory();
        memory.limit(3);
        let words: Vec<_> = (0..5).map(|_| memory.word(there)).collect();
        assert_eq!(words, [Some(7), Some(7), Some(7), None, None]);
        assert!(memory.is_exhausted());
        assert_eq!(memory.code(there), [0; 16]);
        memory.allow(1);
        assert!(!memory.is_exhausted());
        assert_eq!((memory.u8(there), memory.u8(there)), (Some(7), None));
        // A fault costs more than a read, and the last fault may cost more than is left.
        memory.limit(2 * budget::FAULT);
        let faults = (0..1_000).take_while(|_| !memory.is_exhausted() && memory.u8(8).is_none());
        assert_eq!(faults.count(), 2);
        assert_eq!(memory.word(there), None);
    }
}
