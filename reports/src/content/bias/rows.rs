//! A profiler in a run, and its names.

use hotspot::walkers::Walker;
use oracle::bias::{Sampler, Summary, TrueProfile};
use oracle::report::Run;

/// A profiler in a run.
pub(in crate::content) struct Row<'r> {
    pub run: &'r Run,
    pub sampler: Sampler,
    pub summary: Summary,
}

/// The profilers of a run.
pub(in crate::content) fn of_run(run: &Run) -> impl Iterator<Item = Row<'_>> {
    let truth = TrueProfile::of_run(&run.bias);
    run.bias.iter().map(move |(&sampler, pairs)| Row {
        run,
        sampler,
        summary: Summary::new(pairs, &truth),
    })
}

/// The sampler in a sentence.
pub(in crate::content) fn title(sampler: Sampler) -> &'static str {
    match sampler {
        Sampler::Walker(layer) => Walker::of(layer).map_or(layer.name(), |walker| walker.title),
        Sampler::Safepoint => "GetStackTrace at the next safepoint",
    }
}

/// A method without its descriptor.
pub(in crate::content) fn short(name: &str) -> &str {
    name.split('(').next().unwrap_or(name)
}
