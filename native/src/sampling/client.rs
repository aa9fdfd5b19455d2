//! Whom the sampler works for.

use super::sample::Sample;
use super::targets::Target;
use crate::jvm::jvmti::Suspended;
use oracle::Layer;

/// What becomes of the samples.
pub trait Client {
    /// Judges what a thread answered. The sampler counts what was lost.
    fn judge(&mut self, layer: Layer, target: &Target<'_>, sample: &Sample);

    /// Asks for the stack of a suspended thread, lets the thread run on, and judges. `sample` was
    /// taken while the thread was suspended.
    fn judge_suspended(&mut self, target: &Target<'_>, sample: &Sample, suspended: Suspended<'_>);

    /// Called about every second.
    fn keep_books(&mut self);

    /// Called after a second, then ever more rarely, and at the end.
    fn write_profile(&mut self);
}
