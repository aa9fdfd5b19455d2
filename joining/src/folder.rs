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
use recordings::samples::{self, Wanted};
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

/// The name of the recording in a run's folder.
const RECORDING: &str = "requests.jfr";

/// The recording of the run in `dir`.
pub fn recording(dir: &Path) -> PathBuf {
    dir.join(RECORDING)
}

/// Joins the recording and the requests in the folder `dir` of a run, for those of `layers` that need it; `None` if
/// no layer does. At most `limit` mismatches are kept with their evidence. What cannot be read leaves the layers
/// without data, and is noted.
pub fn join(dir: &Path, layers: &[Layer], limit: usize) -> Option<Joined> {
    let recorded = layers.iter().copied();
    let layers: Vec<Layer> = recorded.filter(|layer| layer.is_recorded()).collect();
    if layers.is_empty() {
        return None;
    }
    Some(read(dir, &layers, limit).unwrap_or_else(|error| Joined {
        notes: vec![format!("nothing was joined with the recording: {error}")],
        ..Joined::default()
    }))
}

/// Why there is no recording, and what makes one.
fn no_recording(has_profiler: bool) -> io::Error {
    io::Error::new(
        io::ErrorKind::NotFound,
        if has_profiler {
            "the profiler wrote none: see its messages in the program's output"
        } else {
            "there is none; the program's `jvm_args` must have -XX:StartFlightRecording:filename={run}/requests.jfr"
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
    let counts = judge_all(
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
    notes.extend(counts.joined.values().filter_map(why_none_is_joined));
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
