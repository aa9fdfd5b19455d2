//! The interface to the user of the samples.

use super::sample::Sample;
use super::targets::Target;
use crate::jvm::jvmti::Suspended;
use oracle::Layer;
use std::time::Instant;

/// A thread that is suspended while it is asked.
pub struct Stopped<'a> {
    /// The thread. It runs on when this value is dropped.
    pub suspended: Suspended<'a>,
    /// Whether the thread is a virtual thread, which the target has carried shortly before.
    pub is_virtual: bool,
}

impl<'a> Stopped<'a> {
    /// The suspended thread.
    pub fn new(suspended: Suspended<'a>, is_virtual: bool) -> Stopped<'a> {
        Stopped {
            suspended,
            is_virtual,
        }
    }
}

/// The user of the samples.
pub trait Client {
    /// Judges the answer of a thread. The sampler counts lost samples.
    fn judge(&mut self, layer: Layer, target: &Target<'_>, sample: &Sample);

    /// Asks walkers for the stack of a suspended thread, lets the thread run on, and judges the
    /// answers. `sample` was taken while the thread was suspended, and is that of its carrier if it is a virtual thread. Returns when the thread ran on.
    fn judge_suspended(
        &mut self,
        target: &Target<'_>,
        sample: &Sample,
        stopped: Stopped<'_>,
    ) -> Instant;

    /// A turn begins in which checks are made, or not (see [`oracle::pace`]).
    fn begin_turn(&mut self, with_checks: bool);

    /// Called about every second.
    fn keep_books(&mut self);

    /// Called after a second, then less and less often, and at the end.
    fn write_profile(&mut self);
}
