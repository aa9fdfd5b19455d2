//! Judges the walker's answers at the instants of threads that step, on a thread of its own.

use super::names::Names;
use super::truth::truth;
use super::visited::Visited;
use crate::evidence::Seen as Sampled;
use crate::jvm::attached::AttachedThread;
use crate::jvm::jni::Env;
use crate::jvm::os::ring::{Reader, ring};
use crate::jvm::os::trap;
use crate::layers::context::Layers;
use crate::layers::path::{Check, nothing_more};
use crate::sampling::sample::Reply;
use crate::sampling::stepping::counts::COUNTS;
use crate::sampling::stepping::handler;
use crate::sampling::stepping::instant::{Instant, WAITING};
use crate::sampling::stepping::seen::Seen;
use crate::sampling::stepping::thread::{Means, Stepper};
use oracle::mutants::Sight;
use oracle::record::{Record, StepCounts, VISITED_FILE};
use oracle::{Judgement, Layer, Reason, Verdict};
use std::thread;
use std::time::{Duration, Instant as Time};

const LAYER: Layer = Layer::AsgctStep;

/// How long the judge rests if there is nothing to judge.
const REST: Duration = Duration::from_millis(1);

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
    let walker = layers.walkers.of(LAYER);
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
    let means = Means {
        jvm,
        records: layers.records,
        walker,
        interpreter,
        seen,
    };
    handler::install(Stepper::new(means, writer).map_err(io)?).map_err(io)?;
    let judge = move |env: Env<'_>| guard(&mut || run(layers, env, &mut reader, seen));
    JUDGE
        .start(jvm.vm, c"Stackwitness steps", judge)
        .map_err(io)
}

/// What the judge keeps.
struct Judging<'e> {
    layers: &'static Layers,
    env: Env<'e>,
    seen: &'static Seen,
    names: Names,
    visited: Visited,
    judged: u64,
}

fn run(layers: &'static Layers, env: Env<'_>, reader: &mut Reader<Instant>, seen: &'static Seen) {
    let mut judging = Judging {
        layers,
        env,
        seen,
        names: Names::default(),
        visited: Visited::default(),
        judged: 0,
    };
    let mut booked = Time::now();
    while layers.truth.jvm.is_live() {
        let judged = reader.next(|instant| judging.judge(instant));
        if judged.is_none() {
            thread::sleep(REST);
        }
        if booked.elapsed() >= BOOKKEEPING {
            judging.write_counts();
            booked = Time::now();
        }
    }
    judging.write_counts();
    let path = layers.config.run_dir.join(VISITED_FILE);
    if let Err(error) = judging.visited.write(&path) {
        let reason = format!("the visited code cannot be written: {error}");
        layers.records.invalid(reason);
    }
}

impl Judging<'_> {
    fn judge(&mut self, instant: &Instant) {
        let Judging { layers, env, .. } = *self;
        let slots = &layers.records.slots;
        let judgement = match instant.sample.reply {
            Reply::Walked(Err(code)) => {
                let judgement = Judgement::plain(Verdict::Error(code.0), Reason::ErrorCode);
                slots.judged(LAYER, &judgement);
                judgement
            }
            _ => judge_walk(layers, env, &mut self.names, instant),
        };
        if let Some(count) = self.seen.judged(instant.key, &judgement, LAYER) {
            slots.add_all(count.slots());
        }
        self.judged += 1;
        self.visited.add(layers.truth.jvm, instant, &judgement);
    }

    fn write_counts(&self) {
        let counts = StepCounts {
            judged: self.judged,
            instructions: self.visited.counts(),
            ..COUNTS.read()
        };
        self.layers.records.write(&Record::Steps(counts));
    }
}

fn judge_walk(layers: &Layers, env: Env<'_>, names: &mut Names, instant: &Instant) -> Judgement {
    let jvm = layers.truth.jvm;
    let walk = names.walk(&layers.truth.methods, env, instant.sample.frames.frames());
    let at = (&instant.place, instant.interpreted);
    let Some(found) = truth(jvm, names, at, &instant.calls) else {
        let none = Judgement::plain(Verdict::Unverifiable, Reason::NoStepTruth);
        layers.records.slots.judged(LAYER, &none);
        return none;
    };
    let check = Check {
        layer: LAYER,
        env,
        tid: instant.tid,
        seen: Sampled::InSignal(&instant.sample),
        sight: &Sight::Steps(&found),
        reference: &[],
        evidence: &nothing_more,
    };
    check.go(layers, &walk)
}
