//! Whom the sampler works for.

use super::sample::Sample;
use super::targets::Target;
use oracle::Layer;

/// What becomes of the samples.
pub trait Client {
    /// Judges what a thread answered. The sampler counts what was lost.
    fn judge(&mut self, layer: Layer, target: &Target<'_>, sample: &Sample);

    /// Called about every second.
    fn keep_books(&mut self);

    /// Called after a second, then ever more rarely, and at the end.
    fn write_profile(&mut self);
}
