//! A compiled caller that goes on elsewhere than behind its call: its callee has thrown, or the caller is to be deoptimised.

use super::call::Call;
use crate::arch::{Follow, Native};

/// Where a caller goes on.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Diverted {
    /// The call.
    pub(super) call: Call,
    /// The address.
    pub(super) to: usize,
}

impl Diverted {
    /// Whether the caller is still in the stub in which it went on, at `pc`.
    pub(super) fn has_begun_at(&self, pc: usize) -> bool {
        pc.wrapping_sub(self.to) < Native::MOST_HANDLER_STUB
    }
}
