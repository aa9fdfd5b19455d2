//! The calling thread, as the kernel and the C library know it.

use std::ops::Range;
use std::ptr;

/// The kernel's id of the calling thread.
pub fn id() -> i32 {
    // SAFETY: no preconditions.
    unsafe { libc::gettid() }
}

/// The bounds of a thread's stack. Only the thread itself can make this value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StackBounds(Range<usize>);

impl StackBounds {
    /// The bounds of the calling thread's stack; empty if the C library does not know them.
    pub fn of_this_thread() -> StackBounds {
        // SAFETY: the attributes are initialised by the call and destroyed after their use.
        unsafe {
            let mut attributes = std::mem::zeroed();
            if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
                return StackBounds(0..0);
            }
            let (mut start, mut size) = (ptr::null_mut(), 0);
            let found = libc::pthread_attr_getstack(&attributes, &mut start, &mut size);
            libc::pthread_attr_destroy(&mut attributes);
            match found {
                0 => StackBounds(start as usize..start as usize + size),
                _ => StackBounds(0..0),
            }
        }
    }

    /// The bounds of no stack.
    pub const fn none() -> StackBounds {
        StackBounds(0..0)
    }

    /// Bounds from a range that [`StackBounds::range`] returned.
    ///
    /// # Safety
    /// The range must be that of a thread's own [`StackBounds`], or empty.
    pub unsafe fn from_range(range: Range<usize>) -> StackBounds {
        StackBounds(range)
    }

    /// The addresses.
    pub fn range(&self) -> &Range<usize> {
        &self.0
    }

    /// The size in bytes; a usual size if the bounds are not known.
    pub fn size(&self) -> usize {
        const USUAL: usize = 8 << 20;
        match self.0.len() {
            0 => USUAL,
            known => known,
        }
    }
}
