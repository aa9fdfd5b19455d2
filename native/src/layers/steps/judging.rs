//! Judges the walker's answers at the instants of threads that step, on a thread of its own.

use super::keeping::{Keeping, cannot_step, layer_of};
use super::truth::{Names, frames_of_call, truth};
use crate::evidence::Sampled;
use crate::jvm::attached::AttachedThread;
use crate::jvm::jni::Env;
use crate::layers::context::Layers;
use crate::layers::path::{Check, nothing_more, unless_doubtful};
use crate::sampling::sample::Reply;
use crate::sampling::stepping::asking::{Asking, Means};
use crate::sampling::stepping::callers::{Below, KnownCalls};
use crate::sampling::stepping::instant::{Instant, MOST_CALLS, WAITING};
use crate::sampling::stepping::judged_pairs::{JudgedPairs, key};
use crate::walkers::buffer::ErrorCode;
use hotspot::walkers::Walker;
use oracle::judge::{Strength, Truth};
use oracle::trace::Frame;
use oracle::{Judgement, Layer, Reason, Verdict};
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;
use std::thread;
use std::time::Duration;
use vm::ring::{Reader, ring};

/// How long the judge rests if there is nothing to judge.
const REST: Duration = Duration::from_micros(50);

/// How long the VM's end waits for the judge, which writes all visited code then: on a busy machine that takes several seconds.
const END: Duration = Duration::from_secs(20);

/// The judge's thread.
static JUDGE: AttachedThread = AttachedThread::new(END);

/// No thread steps any more, and the judge ends. After the live phase. Returns false if the judge does not
/// end in time.
pub fn finish() -> bool {
    JUDGE.finish()
}

/// Lets threads step, and starts the judge's thread, whose work runs within `guard`, unless the walker's answers are in a
/// recording. In the live phase.
pub fn start(layers: &'static Layers, guard: fn(&mut dyn FnMut())) -> Result<(), String> {
    let jvm = layers.truth.jvm;
    let layer = layer_of(&layers.config.layers)?;
    if layer.is_recorded() {
        return Ok(());
    }
    let walker = layers.walkers.of(layer);
    let walker = walker.and_then(|walker| walker.in_handler());
    let walker = walker.ok_or_else(|| format!("this VM has no walker for {layer}"))?;
    let instants: std::io::Result<Vec<_>> = (0..WAITING).map(|_| Instant::new()).collect();
    let (writer, mut reader) = ring(instants.map_err(cannot_step)?);
    let seen: &'static JudgedPairs = Box::leak(Box::new(JudgedPairs::new()));
    let calls: &'static KnownCalls = Box::leak(Box::new(KnownCalls::new()));
    let means = Means {
        jvm,
        records: layers.records,
        layer,
        walker,
        seen,
        calls,
    };
    let asking = Asking::new(means, writer).map_err(cannot_step)?;
    let mut keeping = Keeping::begin(layers, Box::new(asking))?;
    let judge = move |env: Env<'_>| {
        guard(&mut || {
            let judging = Judging {
                layers,
                layer,
                env,
                seen,
                calls,
                names: Names::default(),
                keeping: &mut keeping,
                alike: HashMap::default(),
                below: Below::new(MOST_CALLS),
            };
            judging.run(&mut reader);
        });
    };
    JUDGE
        .start(jvm.vm, c"Stackwitness steps", judge)
        .map_err(cannot_step)
}

/// What the judge keeps.
struct Judging<'e, 'k> {
    layers: &'static Layers,
    layer: Layer,
    env: Env<'e>,
    seen: &'static JudgedPairs,
    calls: &'static KnownCalls,
    names: Names,
    keeping: &'k mut Keeping,
    /// The judgements on pairs whose walks end with the true frames of all calls, by their numbers.
    alike: HashMap<u64, Alike, FxBuildHasher>,
    below: Below,
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

impl Judging<'_, '_> {
    fn run(mut self, reader: &mut Reader<Instant>) {
        while self.layers.truth.jvm.is_live() {
            let judged = reader.next(|instant| self.judge(instant));
            self.keeping.go_on();
            if judged.is_none() {
                thread::sleep(REST);
            }
        }
        self.keeping.end();
    }

    fn judge(&mut self, instant: &Instant) {
        let layers = self.layers;
        let slots = &layers.records.slots;
        let judgement = match instant.sample.reply {
            Reply::Walked(Err(code)) => {
                let judgement = if self.is_right_about_no_frames(code, instant) {
                    Judgement::matching(Reason::SameFrames, Strength::default())
                } else {
                    Judgement::plain(Verdict::Error(code.0), Reason::ErrorCode)
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
            self.keeping.crashed(pc);
        }
        self.keeping.judged += 1;
        let visited = &mut self.keeping.visited;
        visited.add(layers.truth.jvm, instant, &judgement);
    }

    /// Whether the code says that the stack has no Java frames, and the stack may have none.
    fn is_right_about_no_frames(&mut self, code: ErrorCode, instant: &Instant) -> bool {
        let walker = Walker::of(self.layer);
        if !walker.is_some_and(|walker| walker.says_no_frames(code.0)) {
            return false;
        }
        let at = (&instant.place, instant.interpreted);
        let found = truth(self.layers.truth.jvm, &mut self.names, at, &instant.calls);
        found.is_some_and(|found| found.judge(&[]).verdict == Verdict::Match)
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
            event: None,
            evidence: &nothing_more,
        };
        let found = unless_doubtful(&found, &layers.truth.methods);
        let judgement = check.run(layers, &walk, &found);
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
