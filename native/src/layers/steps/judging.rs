//! Judges the walker's answers at the instants of threads that step, on a thread of its own.

use super::names::Names;
use super::truth::{frames_of_call, truth};
use super::visited::Visited;
use crate::evidence::Seen as Sampled;
use crate::jvm::attached::AttachedThread;
use crate::jvm::jni::Env;
use crate::jvm::key_hash::Spread;
use crate::jvm::os::clock;
use crate::jvm::os::ring::{Reader, ring};
use crate::jvm::os::trap;
use crate::jvm::symbols;
use crate::layers::context::Layers;
use crate::layers::path::{Check, nothing_more};
use crate::sampling::sample::Reply;
use crate::sampling::stepping::callers::{Below, KnownCalls};
use crate::sampling::stepping::counts::COUNTS;
use crate::sampling::stepping::handler;
use crate::sampling::stepping::instant::{Instant, MOST_CALLS, WAITING};
use crate::sampling::stepping::key::key;
use crate::sampling::stepping::seen::Seen;
use crate::sampling::stepping::thread::{Means, Stepper};
use crate::sampling::stepping::visits::{Visit, visits};
use crate::walkers::buffer::ErrorCode;
use hotspot::walkers::Walker;
use oracle::judge::{Strength, judge_steps};
use oracle::mutants::Sight;
use oracle::record::{Record, StepCounts, VISITED_FILE};
use oracle::trace::Frame;
use oracle::{Judgement, Layer, Reason, Verdict};
use std::collections::{BTreeMap, HashMap};
use std::thread;
use std::time::{Duration, Instant as Time};

/// How long the judge rests if there is nothing to judge.
const REST: Duration = Duration::from_micros(50);

/// The interval in which counts are written.
const BOOKKEEPING: Duration = Duration::from_secs(5);

/// How long the VM's end waits for the judge.
const END: Duration = Duration::from_secs(3);

/// The judge's thread.
static JUDGE: AttachedThread = AttachedThread::new(END);

/// No thread steps any more, and the judge ends. After the live phase. Returns false if the judge does not
/// end in time.
pub fn finish() -> bool {
    JUDGE.finish()
}

/// Lets threads step, and starts the judge's thread, whose work runs within `guard`. In the live phase.
pub fn start(layers: &'static Layers, guard: fn(&mut dyn FnMut())) -> Result<(), String> {
    let jvm = layers.truth.jvm;
    let layer = layer_of(&layers.config.layers)?;
    let walker = layers.walkers.of(layer);
    let walker = walker.and_then(|walker| walker.in_handler());
    let (Some(walker), Some(interpreter), Some(_), Some(cache)) = (
        walker,
        jvm.interpreter(),
        &jvm.step_facts,
        jvm.code_cache.as_ref(),
    ) else {
        return Err("this VM does not describe its code as steps need it".into());
    };
    if !trap::is_possible() {
        return Err("threads cannot step on this processor".into());
    }
    // From here on the handler knows where the code cache is.
    cache.name_at(0);
    let io = |error| format!("threads cannot step: {error}");
    let instants: std::io::Result<Vec<_>> = (0..WAITING).map(|_| Instant::new()).collect();
    let (writer, mut reader) = ring(instants.map_err(io)?);
    let seen: &'static Seen = Box::leak(Box::new(Seen::new()));
    let calls: &'static KnownCalls = Box::leak(Box::new(KnownCalls::new()));
    let means = Means {
        jvm,
        records: layers.records,
        layer,
        walker,
        interpreter,
        seen,
        calls,
    };
    let (visits, mut visited) = visits();
    handler::install(Stepper::new(means, writer, visits).map_err(io)?).map_err(io)?;
    let judge = move |env: Env<'_>| {
        guard(&mut || {
            let judging = Judging {
                layers,
                layer,
                env,
                seen,
                calls,
                names: Names::default(),
                visited: Visited::default(),
                alike: HashMap::default(),
                below: Below::new(MOST_CALLS),
                judged: 0,
                crashes: BTreeMap::new(),
            };
            judging.run(&mut reader, &mut visited);
        });
    };
    JUDGE
        .start(jvm.vm, c"Stackwitness steps", judge)
        .map_err(io)
}

/// The layer whose walker is asked: one in a run, because a thread has one answer at each step.
fn layer_of(asked: &[Layer]) -> Result<Layer, String> {
    const LAYERS: [Layer; 2] = [Layer::AsgctStep, Layer::AsgstStep];
    let mut found = LAYERS.into_iter().filter(|layer| asked.contains(layer));
    match (found.next(), found.next()) {
        (Some(one), Some(other)) => Err(format!(
            "one walker is asked at each step: give layers {one} and {other} runs of their own, by an axis"
        )),
        (found, _) => Ok(found.unwrap_or(Layer::AsgctStep)),
    }
}

/// What the judge keeps.
struct Judging<'e> {
    layers: &'static Layers,
    layer: Layer,
    env: Env<'e>,
    seen: &'static Seen,
    calls: &'static KnownCalls,
    names: Names,
    visited: Visited,
    /// The judgements on pairs whose walks end with the true frames of all calls, by their numbers.
    alike: HashMap<u64, Alike, Spread>,
    below: Below,
    judged: u64,
    /// Where the walker has crashed, and at how many different pairs of stack and answer.
    crashes: BTreeMap<String, u64>,
}

/// A judgement on a pair whose walk ends with the true frames of all calls.
struct Alike {
    judgement: Judgement,
    /// How many frames the calls have.
    of_calls: usize,
}

impl Alike {
    fn new(judgement: Judgement, of_calls: usize) -> Alike {
        Alike {
            judgement,
            of_calls,
        }
    }

    /// The judgement on a pair whose calls have `of_calls` frames. Only matches have a strength.
    fn with(&self, of_calls: usize) -> Judgement {
        let mut judgement = self.judgement;
        if judgement.verdict == Verdict::Match {
            let all = &mut judgement.strength;
            for count in [&mut all.frames, &mut all.by_method, &mut all.by_bci] {
                let above = (*count as usize).saturating_sub(self.of_calls);
                *count = u32::try_from(above + of_calls).unwrap_or(u32::MAX);
            }
        }
        judgement
    }
}

impl Judging<'_> {
    fn run(mut self, reader: &mut Reader<Instant>, visits: &mut Reader<Visit>) {
        let records = self.layers.records;
        let limit = self.layers.config.step_seconds;
        let limit = limit.map(|seconds| u64::from(seconds) * 1_000_000_000);
        let mut booked = Time::now();
        while self.layers.truth.jvm.is_live() {
            let judged = reader.next(|instant| self.judge(instant));
            self.note(visits);
            if judged.is_none() {
                thread::sleep(REST);
            }
            if limit.is_some_and(|limit| clock::since_start() > limit) {
                handler::stop();
            }
            if booked.elapsed() >= BOOKKEEPING {
                self.write_counts();
                booked = Time::now();
            }
        }
        self.note(visits);
        self.write_counts();
        let path = self.layers.config.run_dir.join(VISITED_FILE);
        if let Err(error) = self.visited.write(&path) {
            records.invalid(format!("the visited code cannot be written: {error}"));
        }
    }

    fn note(&mut self, visits: &mut Reader<Visit>) {
        let jvm = self.layers.truth.jvm;
        while visits
            .next(|visit| self.visited.note(jvm, *visit))
            .is_some()
        {}
    }

    fn judge(&mut self, instant: &Instant) {
        let layers = self.layers;
        let slots = &layers.records.slots;
        let judgement = match instant.sample.reply {
            Reply::Walked(Err(code)) => {
                let judgement = match self.is_right_about_no_frames(code, instant) {
                    true => Judgement::matching(Reason::SameFrames, Strength::default()),
                    false => Judgement::plain(Verdict::Error(code.0), Reason::ErrorCode),
                };
                slots.judged(self.layer, &judgement);
                judgement
            }
            _ => self.judge_walk(instant),
        };
        let (key, of_calls) = (instant.key, instant.of_calls);
        if let Some(count) = self.seen.judged(key, &judgement, self.layer, of_calls) {
            slots.add_all(count.slots());
        }
        if let Some(pc) = instant.crashed {
            *self.crashes.entry(symbols::place(pc)).or_default() += 1;
        }
        self.judged += 1;
        self.visited.add(layers.truth.jvm, instant, &judgement);
    }

    /// Whether the code says that the stack has no Java frames, and the stack may have none.
    fn is_right_about_no_frames(&mut self, code: ErrorCode, instant: &Instant) -> bool {
        let walker = Walker::of(self.layer);
        if !walker.is_some_and(|walker| walker.says_no_frames(code.0)) {
            return false;
        }
        let at = (&instant.place, instant.interpreted);
        let found = truth(self.layers.truth.jvm, &mut self.names, at, &instant.calls);
        found.is_some_and(|found| judge_steps(&[], &found).verdict == Verdict::Match)
    }

    fn write_counts(&self) {
        let counts = StepCounts {
            judged: self.judged,
            instructions: self.visited.counts(),
            kinds: self.visited.kinds(),
            crashes: self.crashes.clone(),
            ..COUNTS.read()
        };
        self.layers.records.write(&Record::Steps(counts));
    }

    fn judge_walk(&mut self, instant: &Instant) -> Judgement {
        let walk = instant.sample.frames.frames();
        let Instant {
            place,
            interpreted,
            calls,
            ..
        } = instant;
        // Calls may be known by now that were not at the instant.
        let of_calls = self.below.at_end(calls, self.calls, walk);
        let key = key(place, *interpreted, Ok(walk), calls, of_calls);
        if let (Some(of_calls), Some(judged)) = (of_calls, self.alike.get(&key)) {
            let judgement = judged.with(of_calls);
            self.layers.records.slots.judged(self.layer, &judgement);
            return judgement;
        }
        let judgement = self.judge_whole(instant);
        if let Some(of_calls) = of_calls {
            self.alike.insert(key, Alike::new(judgement, of_calls));
        }
        judgement
    }

    /// Compares all frames.
    fn judge_whole(&mut self, instant: &Instant) -> Judgement {
        let Judging { layers, env, .. } = *self;
        let raw = instant.sample.frames.frames();
        let walk = self.names.walk(&layers.truth.methods, env, raw);
        let at = (&instant.place, instant.interpreted);
        let jvm = layers.truth.jvm;
        let Some(found) = truth(jvm, &mut self.names, at, &instant.calls) else {
            let none = Judgement::plain(Verdict::Unverifiable, Reason::NoStepTruth);
            layers.records.slots.judged(self.layer, &none);
            return none;
        };
        let check = Check {
            layer: self.layer,
            env,
            tid: instant.tid,
            seen: Sampled::InSignal(&instant.sample),
            sight: &Sight::Steps(&found),
            reference: &[],
            evidence: &nothing_more,
        };
        let judgement = check.go(layers, &walk);
        let is_true_below = matches!(judgement.verdict, Verdict::Match | Verdict::Imprecise);
        if is_true_below || judgement.is_flagged() {
            self.note_calls(instant, &walk);
        }
        judgement
    }

    /// Notes which frames of `walk`, which ends with the true ones, stand for each call.
    fn note_calls(&mut self, instant: &Instant, walk: &[Frame]) {
        let jvm = self.layers.truth.jvm;
        let raw = instant.sample.frames.frames();
        let mut end = walk.len();
        for call in &instant.calls {
            let count = match self.calls.count(call) {
                Some(count) => count,
                None => {
                    let Some(frames) = frames_of_call(jvm, &mut self.names, call) else {
                        return;
                    };
                    let Some(start) = end.checked_sub(frames.len()) else {
                        return;
                    };
                    let mut pairs = frames.iter().zip(&walk[start..end]);
                    let agree =
                        pairs.all(|(known, frame)| known.location.is_some() && known.allows(frame));
                    if !agree {
                        return;
                    }
                    self.calls.add(call, &raw[start..end]);
                    frames.len()
                }
            };
            let Some(start) = end.checked_sub(count) else {
                return;
            };
            end = start;
        }
    }
}
