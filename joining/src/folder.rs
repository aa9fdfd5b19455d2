//! The files of a run.

use crate::classes::Classes;
use crate::evidence::Mismatches;
use crate::file::RequestsFile;
use crate::hottest::{named, stacks};
use crate::methods::NamedMethods;
use crate::profiler::{Description, PROFILER_FILE, Started};
use crate::run::{Counts, judge_all};
use oracle::bias::{Pairs, Sampler, StackCounts, StackProfiles, bounded};
use oracle::record::{JoinCounts, KindCount, Mismatch};
use oracle::requests::{CLASSES_FILE, REQUESTS_FILE};
use oracle::{Layer, RecordedSampler, TruthKind};
use recordings::samples::{self, TimedSamples, Wanted};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

/// What was joined in a run.
#[derive(Debug, Default)]
pub struct Joined {
    /// The counts of each layer.
    pub counts: Counts,
    /// Some mismatches with their evidence.
    pub mismatches: Vec<Mismatch>,
    /// The counts of all mismatches.
    pub kinds: Vec<KindCount>,
    /// What the truth and each sampler named at the same instants.
    pub bias: BTreeMap<Sampler, Pairs>,
    /// The true stacks and those of each sampler.
    pub stacks: BTreeMap<Sampler, StackProfiles>,
    /// What the reader of a report should know.
    pub notes: Vec<String>,
}

/// Where a profiler says why it did not start.
const MESSAGES: &str = "see the profiler's messages in stdout.txt and stderr.txt of the run";

/// The name of the recording in a run's folder.
const RECORDING: &str = "requests.jfr";

/// The recording of the run in `dir`.
pub fn recording(dir: &Path) -> PathBuf {
    dir.join(RECORDING)
}

/// Joins the recording and the requests in the folder `dir` of a run, for those of `layers` that need it; `None` if
/// no layer does. At most `limit` mismatches of each layer, verdict and cause are kept with their evidence. What cannot be read leaves
/// the layers without data, and is noted.
pub fn join(dir: &Path, layers: &[Layer], limit: usize) -> Option<Joined> {
    let recorded = layers.iter().copied();
    let layers: Vec<Layer> = recorded.filter(|layer| layer.is_recorded()).collect();
    if layers.is_empty() {
        return None;
    }
    Some(read(dir, &layers, limit).unwrap_or_else(|error| nothing(&layers, &error)))
}

/// Nothing was joined because of `error`.
fn nothing(layers: &[Layer], error: &io::Error) -> Joined {
    let why = error.to_string();
    let of_layer = |&layer: &Layer| {
        let counts = JoinCounts {
            why_none: Some(why.clone()),
            ..JoinCounts::new(layer)
        };
        (layer, counts)
    };
    Joined {
        counts: Counts {
            joined: layers.iter().map(of_layer).collect(),
            ..Counts::default()
        },
        notes: vec![why.clone()],
        ..Joined::default()
    }
}

/// Fails if a profiler's recording has none of the events by which it samples: what it has instead tells how to describe the
/// profiler.
fn has_samples(samples: &TimedSamples, wanted: &Wanted) -> io::Result<()> {
    if !samples.samples.is_empty() {
        return Ok(());
    }
    let events = wanted.events.join(" or ");
    let others = samples.others.iter();
    let others: Vec<String> = others
        .map(|(name, count)| format!("{name} ({count})"))
        .collect();
    let told = match (&samples.cut, &others[..]) {
        (Some(why), _) => format!("the recording could not be read: {why}"),
        (None, []) => format!("the recording has no event with a stack: {MESSAGES}"),
        (None, others) => format!(
            "the recording has no event {events}; its events with a stack: {}",
            others.join(", ")
        ),
    };
    Err(io::Error::new(io::ErrorKind::InvalidData, told))
}

/// Why there is no recording, and what makes one.
fn no_recording(has_profiler: bool) -> io::Error {
    io::Error::new(
        io::ErrorKind::NotFound,
        if has_profiler {
            format!("the profiler wrote no recording: {MESSAGES}")
        } else {
            "there is no recording; the program's `jvm_args` must have -XX:StartFlightRecording:filename={run}/requests.jfr"
                .to_owned()
        },
    )
}

/// Why a layer has nothing to judge although its sampler was asked, for a reader who sees no data.
fn why_none_is_joined(counts: &JoinCounts) -> Option<String> {
    let layer = counts.layer;
    match (counts.requests, counts.events, counts.joined) {
        (1.., 0, _) => Some(format!(
            "the recording has no event for layer {layer}: is the event enabled in `jvm_args`, with a period that is \
             shorter than the run?"
        )),
        (_, 1.., 0) => Some(format!(
            "none of the recording's {} events for layer {layer} is of a moment at which its sampler interrupted a thread \
             of this JVM: did another JVM write {RECORDING}?",
            counts.events
        )),
        _ => None,
    }
}

/// The profiler whose recording is in the folder `dir` of a run.
fn started(dir: &Path) -> io::Result<Started> {
    let text = std::fs::read(dir.join(PROFILER_FILE))?;
    Ok(serde_json::from_slice(&text)?)
}

fn read(dir: &Path, layers: &[Layer], limit: usize) -> io::Result<Joined> {
    let open = |path: PathBuf| {
        let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", path.display()));
        File::open(&path).map(BufReader::new).map_err(named)
    };
    let file = RequestsFile::read(open(dir.join(REQUESTS_FILE))?)?;
    let mut layers_of = layers.iter();
    let has_profiler = layers_of.any(|layer| layer.is_of(RecordedSampler::Profiler));
    let profiler = has_profiler.then(|| started(dir));
    let profiler = profiler.transpose()?;
    let by_profiler = profiler
        .as_ref()
        .is_some_and(|profiler| profiler.by_profiler);
    let mut recorded = open(recording(dir)).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => no_recording(has_profiler),
        _ => e,
    })?;
    let description = profiler.map(|profiler| profiler.description);
    let wanted = description
        .as_ref()
        .map_or_else(Wanted::of_jfr, Description::wanted);
    let samples = samples::read(&mut recorded, &wanted)?;
    if has_profiler {
        has_samples(&samples, &wanted)?;
    }
    let families = description.map_or_else(Vec::new, |description| description.families);
    let mut methods = NamedMethods::with_families(&file.methods, &families);
    let classes = open(dir.join(CLASSES_FILE)).and_then(Classes::read);
    let classes = classes.ok().map(|mut classes| {
        classes.distrust_altered(file.methods.values());
        classes
    });
    let mut mismatches = Mismatches::new(limit, by_profiler);
    let mut bias: BTreeMap<Sampler, Pairs> = BTreeMap::new();
    let mut counts_of: BTreeMap<Sampler, StackCounts> = BTreeMap::new();
    let mut counts = judge_all(
        (&file, classes.as_ref()),
        &samples,
        &mut methods,
        layers,
        |judged, methods| {
            mismatches.add(judged, methods);
            if let Some((truth, claim)) = named(judged, methods) {
                let pairs = bias.entry(Sampler::Walker(judged.layer)).or_default();
                pairs.add(&truth, claim.as_ref().map(String::as_str), 1);
            }
            if let Some((truth, shown)) = stacks(judged, methods) {
                let counts = counts_of.entry(Sampler::Walker(judged.layer)).or_default();
                counts.add(truth, shown.as_ref().map(Vec::as_slice));
            }
        },
    );
    let mut notes = vec![];
    let by_classes = layers.iter().any(|layer| layer.uses(TruthKind::Classes));
    if classes.is_none() && by_classes {
        notes.push(
            "class files did not judge the recording's stacks: there is no file of them".to_owned(),
        );
    }
    if !file.complete {
        notes.push("the file of requests is not complete".to_owned());
    }
    if let Some(why) = &samples.cut {
        notes.push(format!("the recording was not read to its end: {why}"));
    }
    for joined in counts.joined.values_mut() {
        joined.why_none = why_none_is_joined(joined);
        notes.extend(joined.why_none.clone());
    }
    let (mismatches, kinds) = mismatches.kinds();
    let stacks = counts_of.iter().map(|(&of, counts)| {
        let profiles = counts.profiles(|hook| methods.shown_hook(hook));
        (of, profiles)
    });
    Ok(Joined {
        counts,
        mismatches,
        kinds,
        bias: bounded(bias),
        stacks: stacks.collect(),
        notes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_without_samples_says_what_it_has() {
        let wanted = Wanted::of_jfr();
        let told = |samples: &TimedSamples| has_samples(samples, &wanted).unwrap_err().to_string();
        let empty = TimedSamples::default();
        assert!(told(&empty).contains("stderr.txt"));
        let other = TimedSamples {
            others: [("mine.Sample".to_owned(), 7)].into(),
            ..TimedSamples::default()
        };
        assert!(told(&other).ends_with("its events with a stack: mine.Sample (7)"));
        let cut = TimedSamples {
            cut: Some("a chunk is damaged".into()),
            ..other
        };
        assert!(told(&cut).ends_with("a chunk is damaged"));
    }
}
