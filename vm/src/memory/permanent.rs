//! Memory that stays mapped as long as the process lives.

use hotspot::memory::Memory;

/// Reads addresses that are known to be mapped for ever, without the care that other reads need.
pub struct Permanent(());

impl Permanent {
    /// # Safety
    /// All addresses that are read by this must be mapped as long as the process lives.
    pub const unsafe fn new() -> Permanent {
        Permanent(())
    }
}

/// Other threads may write meanwhile, so each value is read by one instruction, and once.
#[inline]
fn read<T: Copy>(address: usize) -> T {
    // SAFETY: it is mapped, as the creator of the reader promised. The processor reads where nothing is aligned, too, and all
    // these types have no invalid values.
    unsafe { std::ptr::read_volatile(address as *const T) }
}

impl Memory for Permanent {
    #[inline]
    fn u8(&self, address: usize) -> Option<u8> {
        Some(read(address))
    }

    #[inline]
    fn u16(&self, address: usize) -> Option<u16> {
        Some(read(address))
    }

    #[inline]
    fn u32(&self, address: usize) -> Option<u32> {
        Some(read(address))
    }

    #[inline]
    fn word(&self, address: usize) -> Option<usize> {
        Some(read(address))
    }

    #[inline]
    fn code(&self, address: usize) -> [u8; 16] {
        read(address)
    }
}
