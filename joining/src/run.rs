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
use oracle::trace::MethodKey;
use oracle::{Judgement, Layer, Reason, RecordedSampler, TruthKind, Verdict};
use recordings::samples::{CPU_TIME, TimedSample, TimedSamples};
use std::collections::{BTreeMap, HashMap, HashSet};

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
    see: impl FnMut(&Judged<'_>, &NamedMethods),
) -> Counts {
    let walks = walks(samples, methods);
    let recorders = Recorders::new(layers);
    let origins = origins(file, samples, &recorders);
    let names = names(file, methods);
    let mut judging = Judging {
        file,
        classes,
        of_profiler: recorders.is_profiler(),
        names: &names,
        methods,
        truths: Truths::new(file, &names),
        codes: ByCode::new(file),
        layers: layers
            .iter()
            .map(|&layer| (layer, of_layer(file, samples, layer)))
            .collect(),
        elsewhere: HashSet::new(),
        see,
    };
    for (sample, origin) in samples.samples.iter().zip(origins.of_events) {
        if let Some(layer) = recorders.layer(sample) {
            judging.event(
                layer,
                sample,
                origin,
                sample.stack.map(|stack| &walks[stack]),
            );
        }
    }
    for (number, request) in file.requests.iter().enumerate() {
        if !judging.elsewhere.contains(&number) {
            judging.request(request, origins.answered.contains(&number));
        }
    }
    judging.counts()
}

/// Which request each event belongs to.
fn origins(file: &RequestsFile, samples: &TimedSamples, recorders: &Recorders<'_>) -> Origins {
    let requests = Requests::new(&file.requests);
    let clock = clock(file, samples, &requests, recorders);
    let find = |sample: &TimedSample| {
        let layer = recorders.layer(sample)?;
        let tid = i32::try_from(sample.os_thread).ok().filter(|&tid| tid > 0);
        match requests.find(layer, tid, clock.as_ref()?.counter(sample.ticks)) {
            Found::One(number) => Some(number),
            Found::NotOne => None,
        }
    };
    let is_early = |sample: &TimedSample| {
        let clock = clock.as_ref();
        clock.is_some_and(|clock| clock.counter(sample.ticks).1 < file.since)
    };
    Origins::find(&samples.samples, find, is_early)
}

/// The counts of a layer of which nothing is joined yet.
fn of_layer(file: &RequestsFile, samples: &TimedSamples, layer: Layer) -> OfLayer {
    let mut joined = JoinCounts::new(layer);
    joined.not_copied = file.lost.get(&layer).copied().unwrap_or(0);
    if layer.is_of(RecordedSampler::CpuTime) {
        joined.lost = samples.lost;
    }
    OfLayer {
        joined,
        tally: Tally::default(),
    }
}

/// The counts of one layer.
struct OfLayer {
    joined: JoinCounts,
    tally: Tally,
}

impl OfLayer {
    /// An event that is no check is counted where it belongs. Returns whether it is one.
    fn leave_out(&mut self, origin: Origin, is_elsewhere: bool) -> bool {
        let count = match origin {
            _ if is_elsewhere => &mut self.joined.other_threads,
            Origin::Early => &mut self.joined.early,
            Origin::Repeated => &mut self.joined.repeated,
            Origin::Request(_) | Origin::Unknown => return false,
        };
        *count += 1;
        true
    }

    /// Counts an event, and the verdict on it. That on a biased one is no verdict on the instant.
    fn add(&mut self, event: Event<'_>, request: Option<&Request>, judgement: &Judgement) {
        let joined = &mut self.joined;
        joined.events += 1;
        joined.joined += u64::from(request.is_some());
        joined.failed += u64::from(event.failed);
        joined.said += u64::from(event.is_marked());
        let is_cut = |walk: &OwnedWalk| walk.truncated && !walk.marked;
        joined.truncated += u64::from(event.walk.is_some_and(is_cut));
        match request.map(|request| request.stack) {
            _ if event.sample.biased => {
                let verdict = judgement.verdict.name().to_owned();
                *joined.biased.entry(verdict).or_default() += 1;
                let biased = Judgement::plain(Verdict::Unverifiable, Reason::Biased);
                self.tally.add(&biased);
            }
            Some(Copied::Lost(cause)) => self.tally.add_drop(cause),
            _ => self.tally.add(judgement),
        }
    }
}

/// An event with what its walk found.
#[derive(Clone, Copy)]
struct Event<'e> {
    sample: &'e TimedSample,
    walk: Option<&'e OwnedWalk>,
    /// Whether it says that there is no stack.
    failed: bool,
}

impl Event<'_> {
    /// Whether it says, by a frame of its own, that the walk ended early.
    fn is_marked(&self) -> bool {
        self.walk.is_some_and(|walk| walk.marked)
    }
}

/// What is needed to judge, and the counts so far.
struct Judging<'j, S> {
    file: &'j RequestsFile,
    classes: Option<&'j Classes>,
    of_profiler: bool,
    names: &'j HashMap<u32, MethodKey>,
    methods: &'j NamedMethods,
    truths: Truths<'j>,
    codes: ByCode<'j>,
    layers: BTreeMap<Layer, OfLayer>,
    /// The requests of threads without Java frames whose events show none.
    elsewhere: HashSet<usize>,
    see: S,
}

/// Whether a thread had Java frames at a request, or may have had some: the trace stack has an entry, or the thread runs
/// generated code, or it has an anchor, behind which the VM has left Java. The JVM's compilers and the agent's own threads are
/// Java threads, and have none.
fn has_java_frames(
    request: &Request,
    file: &RequestsFile,
    truths: &mut Truths<'_>,
    methods: &NamedMethods,
) -> bool {
    let Copied::Truth(number) = request.stack else {
        return true;
    };
    let seen = request.proofs.and_then(|number| file.proofs.get(&number));
    let is_outside = seen.is_some_and(|seen| !seen.in_java && seen.anchor.is_none());
    let truth = truths.get(number, methods);
    !is_outside || request.carried || !truth.is_some_and(OwnedTruth::is_empty)
}

impl<'j, S: FnMut(&Judged<'_>, &NamedMethods)> Judging<'j, S> {
    /// Judges and counts an event of a layer.
    fn event(
        &mut self,
        layer: Layer,
        sample: &TimedSample,
        origin: Origin,
        walk: Option<&OwnedWalk>,
    ) {
        let request = match origin {
            Origin::Request(number) => Some(&self.file.requests[number]),
            _ => None,
        };
        if request.is_some_and(|request| request.in_hook) {
            return;
        }
        let Some(counts) = self.layers.get_mut(&layer) else {
            return;
        };
        let is_empty = walk.is_none_or(|walk| walk.frames.is_empty());
        let is_marked = walk.is_some_and(|walk| walk.marked);
        let runs_java = |request: &Request| {
            is_marked || has_java_frames(request, self.file, &mut self.truths, self.methods)
        };
        let is_elsewhere = self.of_profiler && is_empty && !request.is_some_and(runs_java);
        if counts.leave_out(origin, is_elsewhere) {
            if let Origin::Request(number) = origin {
                self.elsewhere.insert(number);
            }
            return;
        }
        let of_virtual = request.filter(|request| request.carried && self.of_profiler);
        let of_virtual = of_virtual.and(walk);
        let of_virtual = of_virtual.map(|walk| walk.of_virtual_thread(self.methods));
        let event = Event {
            sample,
            walk: of_virtual.as_ref().or(walk),
            failed: sample.failed || is_empty && walk.is_some_and(|walk| walk.marked),
        };
        let judgement = self.judge(layer, event, request);
        if let Some(counts) = self.layers.get_mut(&layer) {
            counts.add(event, request, &judgement);
        }
        if let Some(request) = request {
            self.codes.add(layer, request, Some(sample), &judgement);
        }
    }

    /// Judges an event, and shows it.
    fn judge(&mut self, layer: Layer, event: Event<'_>, request: Option<&Request>) -> Judgement {
        let truth = match request.map(|request| request.stack) {
            Some(Copied::Truth(number)) => self.truths.get(number, self.methods),
            _ => None,
        };
        let seen = request.and_then(|request| self.file.proofs.get(&request.proofs?));
        let at_pc = || self.file.records.get(&request?.pc);
        let instant = truth.map(|truth| Instant {
            truth,
            records: seen.and_then(|seen| seen.leaf_call.as_ref()).or_else(at_pc),
            of_profiler: self.of_profiler,
            names: self.names,
            classes: self.classes.filter(|_| layer.uses(TruthKind::Classes)),
        });
        let compared = event.walk.zip(instant.as_ref());
        let judgement = judgement(event.failed, request, compared, self.methods);
        let judged = Judged {
            layer,
            sample: Some(event.sample),
            request,
            code: request.and_then(|request| self.file.codes.get(&request.pc)),
            truth,
            compared,
            seen,
            judgement,
        };
        (self.see)(&judged, self.methods);
        judgement
    }

    /// Counts a request. Without an event it is an error of the layer, unless the JVM had given up: it waits for two milliseconds
    /// until the thread runs (`PosixSignals::do_suspend`, `os/posix/signals_posix.cpp`), and the copy is of a later instant.
    fn request(&mut self, request: &Request, is_answered: bool) {
        let Some(OfLayer { joined, tally }) = self.layers.get_mut(&request.layer) else {
            return;
        };
        if request.in_hook || request.hook_ran {
            joined.in_hooks += 1;
            return;
        }
        joined.requests += 1;
        if is_answered {
            joined.answered += 1;
            return;
        }
        if request.given_up {
            joined.given_up += 1;
            return;
        }
        let judgement = Judgement::plain(Verdict::Error(NO_EVENT), Reason::ErrorCode);
        tally.add(&judgement);
        self.codes.add(request.layer, request, None, &judgement);
        let judged = Judged {
            layer: request.layer,
            sample: None,
            request: Some(request),
            code: self.file.codes.get(&request.pc),
            truth: match request.stack {
                Copied::Truth(number) => self.truths.get(number, self.methods),
                Copied::Lost(_) => None,
            },
            compared: None,
            seen: None,
            judgement,
        };
        (self.see)(&judged, self.methods);
    }

    /// The counts of all layers.
    fn counts(self) -> Counts {
        let mut counts = Counts::default();
        for (layer, OfLayer { mut joined, tally }) in self.layers {
            joined.codes = self.codes.of(layer);
            counts.joined.insert(layer, joined);
            counts.tallies.insert(layer, tally);
        }
        counts
    }
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
