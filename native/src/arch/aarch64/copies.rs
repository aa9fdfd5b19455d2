//! No instruction is run by a copy: no thread steps on this architecture.

use std::io;

/// No copies.
pub struct Copies;

impl Copies {
    /// No copies.
    pub fn new() -> io::Result<Copies> {
        Ok(Copies)
    }

    /// Runs nothing.
    ///
    /// # Safety
    /// None is needed.
    pub unsafe fn run(&mut self, _: &mut libc::ucontext_t) -> bool {
        false
    }
}

/// No copy has faulted.
pub fn resume_behind_copy(_: &mut libc::ucontext_t) -> bool {
    false
}

/// Copies `from` to `to`: no thread steps, so no instruction is special.
#[cfg(test)]
pub fn run_special_instructions(from: &[u8; 256], to: &mut [u8; 256]) {
    to.copy_from_slice(from);
}
