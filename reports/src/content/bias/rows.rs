//! A profiler in a run, and its names.

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

/// A method without its descriptor.
pub(in crate::content) fn short(name: &str) -> &str {
    name.split('(').next().unwrap_or(name)
}
