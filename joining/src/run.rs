//! The events of a run, joined, judged and counted.

use crate::classes::Classes;
use crate::clock::Clock;
use crate::codes::ByCode;
use crate::file::RequestsFile;
use crate::instant::Instant;
use crate::judging::{OwnedWalk, judge, walks};
use crate::methods::NamedMethods;
use crate::origins::{Origin, Origins};
use crate::requests::{Found, Requests};
use crate::truths::{OwnedTruth, Truths, names};
use hotspot::at_request::RequestProofs;
use oracle::record::JoinCounts;
use oracle::requests::{Copied, Request, SeenCode};
use oracle::tally::Tally;
use oracle::{Judgement, Layer, Reason, RecordedSampler, TruthKind, Verdict};
use recordings::samples::{CPU_TIME, TimedSample, TimedSamples};
use std::collections::BTreeMap;

/// The code of a request without an event.
pub const NO_EVENT: i32 = 0;

/// The code of an event that says that its walk failed.
pub const FAILED: i32 = -1;

/// One event, joined and judged; or a request without an event.
pub struct Judged<'a> {
    /// The layer of the sampler.
    pub layer: Layer,
    /// The event, if there is one.
    pub sample: Option<&'a TimedSample>,
    /// Its request, if exactly one was copied.
    pub request: Option<&'a Request>,
    /// The code at the program counter of the request, if it is known.
    pub code: Option<&'a SeenCode>,
    /// What was true at the request, if that is known.
    pub truth: Option<&'a OwnedTruth>,
    /// Its stack, and what is known of the instant, if there are both.
    pub compared: Option<(&'a OwnedWalk, &'a Instant<'a>)>,
    /// What the agent saw of code and stack at the request, if it looked.
    pub seen: Option<&'a RequestProofs>,
    /// The judgement.
    pub judgement: Judgement,
}

/// The counts of a run.
#[derive(Debug, Default)]
pub struct Counts {
    /// Each layer's verdicts.
    pub tallies: BTreeMap<Layer, Tally>,
    /// What was joined in each layer.
    pub joined: BTreeMap<Layer, JoinCounts>,
}

/// The layers whose samplers made the recording.
enum Recorders<'l> {
    /// A profiler, whose events may have JFR's names: all are its own.
    Profiler(Layer),
    /// The JVM's own samplers.
    Jvm(&'l [Layer]),
}

impl Recorders<'_> {
    fn new(layers: &[Layer]) -> Recorders<'_> {
        let mut all = layers.iter().copied();
        let of_profiler = all.find(|layer| layer.is_of(RecordedSampler::Profiler));
        of_profiler.map_or(Recorders::Jvm(layers), Recorders::Profiler)
    }

    /// The layer whose walker is the sampler of the event.
    fn layer(&self, sample: &TimedSample) -> Option<Layer> {
        match self {
            Recorders::Profiler(layer) => Some(*layer),
            Recorders::Jvm(layers) => {
                let sampler = if *sample.event == *CPU_TIME {
                    RecordedSampler::CpuTime
                } else {
                    RecordedSampler::Execution
                };
                layers.iter().copied().find(|layer| layer.is_of(sampler))
            }
        }
    }

    fn is_profiler(&self) -> bool {
        matches!(self, Recorders::Profiler(_))
    }
}

/// Joins and judges all events of `samples` that belong to `layers`. Shows each event, and each request without an
/// event, to `see`. `methods` must be those of `file`. Without `classes` class files do not judge.
pub fn judge_all(
    (file, classes): (&RequestsFile, Option<&Classes>),
    samples: &TimedSamples,
    methods: &mut NamedMethods,
    layers: &[Layer],
    mut see: impl FnMut(&Judged<'_>, &NamedMethods),
) -> Counts {
    let mut counts = Counts::default();
    for &layer in layers {
        let joined = counts.joined.entry(layer).or_insert(JoinCounts::new(layer));
        joined.not_copied = file.lost.get(&layer).copied().unwrap_or(0);
        counts.tallies.insert(layer, Tally::default());
    }
    for (layer, joined) in &mut counts.joined {
        if layer.is_of(RecordedSampler::CpuTime) {
            joined.lost = samples.lost;
        }
    }
    let walks = walks(samples, methods);
    let requests = Requests::new(&file.requests);
    let recorders = Recorders::new(layers);
    let of_profiler = recorders.is_profiler();
    let clock = clock(file, samples, &requests, &recorders);
    let names = names(file, methods);
    let mut truths = Truths::new(file, &names);
    let mut codes = ByCode::new(file);
    let find = |sample: &TimedSample| {
        let layer = recorders.layer(sample)?;
        let tid = i32::try_from(sample.os_thread).ok().filter(|&tid| tid > 0);
        match requests.find(layer, tid, clock?.counter(sample.ticks)) {
            Found::One(number) => Some(number),
            Found::NotOne => None,
        }
    };
    let is_early = |sample: &TimedSample| {
        clock.is_some_and(|clock| clock.counter(sample.ticks).1 < file.since)
    };
    let origins = Origins::find(&samples.samples, find, is_early);
    for (sample, origin) in samples.samples.iter().zip(origins.of_events) {
        let Some(layer) = recorders.layer(sample) else {
            continue;
        };
        let (Some(joined), Some(tally)) = (
            counts.joined.get_mut(&layer),
            counts.tallies.get_mut(&layer),
        ) else {
            continue;
        };
        let request = match origin {
            Origin::Request(number) => Some(&file.requests[number]),
            _ => None,
        };
        if request.is_some_and(|request| request.in_hook) {
            continue;
        }
        let walk = sample.stack.map(|stack| &walks[stack]);
        if request.is_none() && walk.is_none_or(|walk| walk.frames.is_empty()) && of_profiler {
            joined.other_threads += 1;
            continue;
        }
        let not_a_check = match origin {
            Origin::Early => Some(&mut joined.early),
            Origin::Repeated => Some(&mut joined.repeated),
            Origin::Request(_) | Origin::Unknown => None,
        };
        if let Some(count) = not_a_check {
            *count += 1;
            continue;
        }
        let is_marked = walk.is_some_and(|walk| walk.marked);
        joined.said += u64::from(is_marked);
        let of_virtual = request.filter(|request| request.carried && of_profiler);
        let of_virtual = of_virtual
            .and(walk)
            .map(|walk| walk.of_virtual_thread(methods));
        let walk = of_virtual.as_ref().or(walk);
        let failed = sample.failed || is_marked && walk.is_some_and(|walk| walk.frames.is_empty());
        let truth = match request.map(|request| request.stack) {
            Some(Copied::Truth(number)) => truths.get(number, methods),
            _ => None,
        };
        let seen = request.and_then(|request| file.proofs.get(&request.proofs?));
        let at_pc = || file.records.get(&request?.pc);
        let instant = truth.map(|truth| Instant {
            truth,
            records: seen.and_then(|seen| seen.leaf_call.as_ref()).or_else(at_pc),
            may_be_exact: of_profiler,
            names: &names,
            classes: classes.filter(|_| layer.uses(TruthKind::Classes)),
        });
        let compared = walk.zip(instant.as_ref());
        let judgement = judgement(failed, request, compared, methods);
        see(
            &Judged {
                layer,
                sample: Some(sample),
                request,
                code: request.and_then(|request| file.codes.get(&request.pc)),
                truth,
                compared,
                seen,
                judgement,
            },
            methods,
        );
        joined.events += 1;
        joined.joined += u64::from(request.is_some());
        joined.failed += u64::from(failed);
        joined.truncated += u64::from(walk.is_some_and(|walk| walk.truncated && !walk.marked));
        if let Some(request) = request {
            codes.add(layer, request, Some(sample), &judgement);
        }
        match (sample.biased, request.map(|request| request.stack)) {
            (true, _) => {
                let verdict = judgement.verdict.name().to_owned();
                *joined.biased.entry(verdict).or_default() += 1;
                tally.add(&Judgement::plain(Verdict::Unverifiable, Reason::Biased));
            }
            (false, Some(Copied::Lost(cause))) => tally.add_drop(cause),
            (false, _) => tally.add(&judgement),
        }
    }
    for (number, request) in file.requests.iter().enumerate() {
        let (Some(joined), Some(tally)) = (
            counts.joined.get_mut(&request.layer),
            counts.tallies.get_mut(&request.layer),
        ) else {
            continue;
        };
        if request.in_hook {
            joined.in_hooks += 1;
            continue;
        }
        joined.requests += 1;
        if origins.answered.contains(&number) {
            joined.answered += 1;
            continue;
        }
        let truth = match request.stack {
            Copied::Truth(number) => truths.get(number, methods),
            Copied::Lost(_) => None,
        };
        let judgement = Judgement::plain(Verdict::Error(NO_EVENT), Reason::ErrorCode);
        see(
            &Judged {
                layer: request.layer,
                sample: None,
                request: Some(request),
                code: file.codes.get(&request.pc),
                truth,
                compared: None,
                seen: None,
                judgement,
            },
            methods,
        );
        codes.add(request.layer, request, None, &judgement);
        tally.add(&judgement);
    }
    for (layer, joined) in &mut counts.joined {
        joined.codes = codes.of(*layer);
    }
    counts
}

/// The clock of the recording. JFR's is the JVM's; a profiler may use the JVM's or the system's, and that with which
/// more of its first events belong to a request is its own.
fn clock(
    file: &RequestsFile,
    samples: &TimedSamples,
    requests: &Requests<'_>,
    recorders: &Recorders<'_>,
) -> Option<Clock> {
    const TRIED: usize = 2_000;
    let of_jvm = Clock::new(&file.pins);
    let &Recorders::Profiler(layer) = recorders else {
        return of_jvm;
    };
    let joined = |clock: &Clock| {
        let tried = samples.samples.iter().take(TRIED);
        let is_joined = |sample: &&TimedSample| {
            let tid = i32::try_from(sample.os_thread).ok().filter(|&tid| tid > 0);
            let found = requests.find(layer, tid, clock.counter(sample.ticks));
            matches!(found, Found::One(_))
        };
        tried.filter(is_joined).count()
    };
    let clocks = [of_jvm, Clock::new(&file.monotonic)].into_iter().flatten();
    clocks.max_by_key(joined)
}

fn judgement(
    failed: bool,
    request: Option<&Request>,
    compared: Option<(&OwnedWalk, &Instant<'_>)>,
    methods: &NamedMethods,
) -> Judgement {
    match (request, compared) {
        _ if failed => Judgement::plain(Verdict::Error(FAILED), Reason::ErrorCode),
        (None, _) => Judgement::plain(Verdict::Unverifiable, Reason::NotJoined),
        (Some(_), None) => Judgement::plain(Verdict::Unverifiable, Reason::MethodGone),
        (Some(_), Some((walk, instant))) => judge(walk, instant, methods),
    }
}
