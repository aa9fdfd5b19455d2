//! The names of walkers in sentences and tables. The walker of a layer has one name, but a profiler that was given has
//! the name that its run says.

use hotspot::walkers::Walker;
use oracle::bias::Sampler;
use oracle::report::{Report, Run};
use oracle::{Layer, RecordedSampler};

/// The walker of a layer in a run.
pub(in crate::content) fn of_run(run: &Run, layer: Layer) -> String {
    match &run.profiler {
        Some(profiler) if layer.is_of(RecordedSampler::Profiler) => profiler.to_string(),
        _ => of_layer(layer).to_owned(),
    }
}

/// The walker of a layer in all runs of a report.
pub(in crate::content) fn of_report(report: &Report, layer: Layer) -> String {
    if !layer.is_of(RecordedSampler::Profiler) {
        return of_layer(layer).to_owned();
    }
    let given = report.runs.iter().filter_map(|run| run.profiler.as_ref());
    let given: Vec<_> = given.collect();
    match given.first() {
        Some(first) if given.iter().all(|other| other == first) => first.to_string(),
        Some(first) if given.iter().all(|other| other.name == first.name) => first.name.clone(),
        _ => of_layer(layer).to_owned(),
    }
}

/// A sampler of a run in a sentence.
pub(in crate::content) fn of_sampler(run: &Run, sampler: Sampler) -> String {
    match sampler {
        Sampler::Walker(layer) => of_run(run, layer),
        Sampler::Safepoint => "GetStackTrace at the next safepoint".to_owned(),
    }
}

/// A sampler of a run in a table: the name of its layer, or that of the given profiler.
pub(in crate::content) fn short(run: &Run, sampler: Sampler) -> String {
    match (sampler, &run.profiler) {
        (Sampler::Walker(layer), Some(profiler)) if layer.is_of(RecordedSampler::Profiler) => {
            profiler.to_string()
        }
        _ => sampler.name().to_owned(),
    }
}

/// The walker of a layer, whatever was given.
pub(in crate::content) fn of_layer(layer: Layer) -> &'static str {
    match layer.row().walker {
        None => "The hooks",
        Some(name) => Walker::of(layer).map_or(name, |walker| walker.title),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::report::{Exit, GivenProfiler};

    #[test]
    fn a_profiler_has_the_name_of_its_run() {
        let run = |options: &[&str]| {
            let mut run = Run::new("p", Exit::Code(0));
            run.profiler = Some(GivenProfiler {
                name: "mine".into(),
                options: options.iter().map(|&option| option.into()).collect(),
            });
            run
        };
        let mut report = crate::sample::report();
        report.runs = vec![run(&["event=cpu"])];
        let name = |report: &Report| of_report(report, Layer::Profiler);
        assert_eq!(name(&report), "mine event=cpu");
        report.runs.push(run(&["event=wall"]));
        assert_eq!(name(&report), "mine");
        assert_eq!(of_run(&report.runs[1], Layer::Profiler), "mine event=wall");
        let asked = of_run(&report.runs[1], Layer::AsgctAsync);
        assert_eq!(asked, "AsyncGetCallTrace", "the JVM's own");
        report.runs.clear();
        assert_eq!(name(&report), "the given profiler");
    }
}
