//! The use of the sampler's samples: the layers of signals, each by the truth on which it rests, and the
//! profile of all stacks.
//!
//! Instants at which a thread was in a handler of another signal are no checks. A profiler that samples by signals may be in
//! the JVM too: while its handler runs, the thread is between two instructions of the program, and what a walker shows of the
//! handler's own code is no answer about the program. Such instants are counted by the library of the handler.

use super::at_suspend::Outside;
use super::context::Layers;
use super::with_classes::CallEdges;
use super::with_next::{self, AtSafepoint, SafepointStacks};
use super::{at_event, profiles, with_trace};
use crate::edges::{Patience, Thread};
use crate::evidence::state_check::StateCheck;
use crate::jvm::jni::Env;
use crate::jvm::os::earlier;
use crate::jvm::os::memory::FreePages;
use crate::jvm::os::signal_set::{SIGNALS, SignalSet};
use crate::jvm::symbols;
use crate::locks::lock;
use crate::records::instants::Answer as Answered;
use crate::records::profile::Stacks;
use crate::sampling::altering::Alterations;
use crate::sampling::handler::Serving;
use crate::sampling::sample::{Reply, Sample};
use crate::sampling::sampler::{Client, Means, Ready, Stopped};
use crate::sampling::targets::Target;
use crate::walkers::buffer::{ErrorCode, FrameBuffer, MAX_FRAMES};
use oracle::edge::Finding;
use oracle::record::Record;
use oracle::tally::Drop;
use oracle::trace::Frame;
use oracle::{Layer, TruthKind, Verdict};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::time::Instant;
use std::{io, ptr};

/// What the signal handler asks.
pub fn serving(layers: &'static Layers) -> io::Result<Serving> {
    let config = layers.config;
    let alterations = config.sampling.altered.map(|altered| {
        let walkers = Layer::ALL.map(|layer| layers.walkers.of(layer)?.altered());
        Alterations::new(altered, config.seed, walkers, &config.run_dir)
    });
    Ok(Serving {
        walkers: Layer::ALL.map(|layer| layers.walkers.of(layer)?.in_handler()),
        java_threads: layers.truth.jvm.java_threads.as_ref().ok(),
        alterations: alterations.transpose()?,
    })
}

/// Runs the sampler on the calling thread, until the VM's end.
pub fn run(layers: &'static Layers, ready: Ready) {
    let means = Means {
        config: layers.config,
        truth: layers.truth,
        records: layers.records,
        shows_virtual_in_java: layers.walkers.show_virtual_in_java(&layers.config.layers),
    };
    let attached = layers.truth.jvm.vm.attached(Some(c"Stackwitness"), |env| {
        match Judging::new(layers, env) {
            Ok(mut judging) => ready.run(means, env, &mut judging),
            Err(error) => layers
                .records
                .invalid(format!("no memory for the sampler: {error}")),
        }
    });
    if attached.is_none() {
        let reason = "the sampler could not attach to the VM".to_owned();
        layers.records.invalid(reason);
    }
}

/// Judges samples, and keeps what is written down of them all.
struct Judging<'e> {
    layers: &'static Layers,
    env: Env<'e>,
    at_safepoint: AtSafepoint,
    /// Frames that a walker has only after the handler.
    later: FrameBuffer,
    edges: CallEdges<'e>,
    /// Walkers that are asked from outside.
    outside: Outside,
    /// Methods by the names that Java code gives.
    names: profiles::ByName,
    /// How often each walk of the profile was sampled.
    stacks: Stacks,
    free_pages: FreePages,
    states: StateCheck,
    in_handlers: InHandlers,
}

impl<'e> Judging<'e> {
    fn new(layers: &'static Layers, env: Env<'e>) -> std::io::Result<Judging<'e>> {
        layers.let_class_files_judge();
        let mut edges = CallEdges::new(layers, env);
        edges.read_earlier();
        Ok(Judging {
            layers,
            env,
            at_safepoint: AtSafepoint::new()?,
            later: FrameBuffer::new(MAX_FRAMES)?,
            edges,
            outside: Outside::new(layers)?,
            names: profiles::ByName::default(),
            stacks: Stacks::default(),
            free_pages: FreePages::new(),
            states: StateCheck::default(),
            in_handlers: InHandlers::new(),
        })
    }

    fn judge_by_trace(&mut self, layer: Layer, target: &Target<'_>, sample: &Sample) {
        let (layers, env, edges) = (self.layers, self.env, &self.edges);
        self.states.look(layers.truth.jvm, layers.records, sample);
        let reply = reply(layers, layer, target, sample, &mut self.later);
        if let Some(walk) = read_walk(layers, env, layer, sample, reply) {
            self.stacks.add(walk);
            let thread = thread(target);
            let found = |walk: &[Frame]| edges.findings(thread, walk);
            let evidence = |walk: &[Frame]| edges.evidence(thread, walk);
            let answer = (target.tid, sample, walk);
            with_trace::check(layers, layer, env, answer, &found, &evidence);
        } else if let Some(Err(_)) = reply {
            profiles::is_silent(layers, layer, sample);
        }
    }

    fn judge_by_next(&mut self, layer: Layer, target: &Target<'_>, sample: &Sample) {
        let (layers, env, of) = (self.layers, self.env, thread(target));
        let may_ask = !would_make_ids(layers, sample);
        if may_ask && self.ask_java(target, sample) {
            return;
        }
        // Nothing is done before GetStackTrace is asked, because the thread runs on meanwhile.
        let mut stacks = SafepointStacks::default();
        if may_ask {
            stacks = self.at_safepoint.ask(layers, env, target, sample);
            profiles::at_safepoint(layers, sample, stacks.own);
        } else {
            profiles::is_not_asked(layers, sample);
        }
        let found = stacks.own.and_then(|gst| judge_gst(layers, env, of, gst));
        let reply = reply(layers, layer, target, sample, &mut self.later);
        let Some(walk) = read_walk(layers, env, layer, sample, reply) else {
            return;
        };
        // The profile has the walks of one layer, because layers of other truths sample at other rates.
        if !layers.config.hooks.is_on() && !layers.config.edges {
            self.stacks.add(walk);
        }
        self.states.look(layers.truth.jvm, layers.records, sample);
        let edges = |walk: &[Frame]| self.edges.findings(of, walk);
        let evidence = |walk: &[Frame]| self.edges.evidence(of, walk);
        let answer = (target.tid, sample, walk);
        with_next::check(
            layers,
            layer,
            env,
            answer,
            (stacks, found),
            &edges,
            &evidence,
        );
    }

    /// Asks Java code for the stack of the running thread, if it is the turn of a layer that does. Returns whether it was.
    fn ask_java(&mut self, target: &Target<'_>, sample: &Sample) -> bool {
        let answered = self.outside.ask_running(self.layers, self.env, target);
        if let Some((layer, answer)) = &answered {
            let names = &mut self.names;
            profiles::in_java(self.layers, *layer, sample, answer.as_deref(), names);
        }
        answered.is_some()
    }

    fn judge_by_classes(&mut self, layer: Layer, target: &Target<'_>, sample: &Sample) {
        let Layers { truth, records, .. } = self.layers;
        self.states.look(truth.jvm, records, sample);
        // Before the time of this check is measured: reading classes is no part of judging this stack.
        self.edges.read_loaded();
        let of = thread(target);
        if self.edges.wants_start(of)
            && !would_make_ids(self.layers, sample)
            && let Some(gst) = self.at_safepoint.stack_of(self.layers, self.env, target)
        {
            judge_gst(self.layers, self.env, of, gst);
        }
        let layers = self.layers;
        let reply = reply(layers, layer, target, sample, &mut self.later);
        if let Some(walk) = read_walk(layers, self.env, layer, sample, reply) {
            self.stacks.add(walk);
            self.edges.check(layer, of, sample, walk);
        }
    }
}

impl Client for Judging<'_> {
    fn judge(&mut self, layer: Layer, target: &Target<'_>, sample: &Sample) {
        if self.in_handlers.has_met(sample.handled) {
            return;
        }
        match layer.row().truths.first() {
            Some(TruthKind::Classes) => self.judge_by_classes(layer, target, sample),
            Some(TruthKind::Next) => self.judge_by_next(layer, target, sample),
            _ => self.judge_by_trace(layer, target, sample),
        }
    }

    fn judge_suspended(
        &mut self,
        target: &Target<'_>,
        sample: &Sample,
        stopped: Stopped<'_>,
    ) -> Instant {
        let (edges, of) = (&self.edges, thread(target));
        let found = |walk: &[Frame]| edges.findings(of, walk);
        let stopped = (target.tid, stopped);
        self.outside
            .check(self.layers, self.env, stopped, sample, &found)
    }

    fn begin_turn(&mut self, with_checks: bool) {
        at_event::begin_turn(self.layers, with_checks);
    }

    fn keep_books(&mut self) {
        at_event::keep_rates(self.layers);
        self.layers.truth.forget_unloaded();
        if self.layers.truth.hooking.is_on() {
            self.free_pages.return_in_time();
        }
        self.layers.write_counts();
        self.in_handlers.look();
        if let Some(counts) = self.in_handlers.take_new() {
            self.layers.records.write(&counts);
        }
        self.edges.read_earlier();
        self.edges.read_loaded();
    }

    fn write_profile(&mut self) {
        let (layers, env) = (self.layers, self.env);
        let name = |key| layers.truth.methods.profiled(env, key);
        let profile = self.stacks.profile(name);
        if !profile.is_empty() {
            layers.records.write(&Record::Profile(profile));
        }
        if let Some(pairs) = profiles::named(layers, env) {
            layers.records.write(&Record::Bias(pairs));
        }
        if let Some(stacks) = profiles::stacks(layers) {
            layers.records.write(&Record::Stacks(stacks));
        }
        if let Some(errors) = lock(&layers.records.errors).take_new() {
            layers.records.write(&Record::Errors(errors));
        }
        if let Some(instants) = lock(&layers.records.instants).take_new() {
            layers.records.write(&Record::Instants(instants));
        }
        self.edges.record();
    }
}

/// The frames of a walk, or an error code; `None` if the walker was not asked, or has not answered.
type Answer<'a> = Option<Result<&'a FrameBuffer, ErrorCode>>;

/// What the walker answered: in the handler, or since then, in `later`.
fn reply<'a>(
    layers: &Layers,
    layer: Layer,
    target: &Target<'_>,
    sample: &'a Sample,
    later: &'a mut FrameBuffer,
) -> Answer<'a> {
    let completes = layers.walkers.of(layer).and_then(|walker| walker.later());
    match (sample.reply, completes) {
        (Reply::NoWalker | Reply::OtherThread, _) => None,
        (Reply::Walked(Err(code)), _) => Some(Err(code)),
        (Reply::Walked(Ok(())), None) => Some(Ok(&sample.frames)),
        (Reply::Walked(Ok(())), Some(walker)) => {
            let walk = walker.complete(target.state, &sample.frames, later)?;
            Some(walk.map(|()| &*later))
        }
    }
}

/// The stack that the walker answered; counts the sample if that is no stack.
fn read_walk<'s>(
    layers: &Layers,
    env: Env<'_>,
    layer: Layer,
    sample: &Sample,
    reply: Answer<'s>,
) -> Option<&'s [Frame]> {
    let slots = &layers.records.slots;
    match reply {
        None => slots.drop(layer, Drop::ThreadEnded),
        Some(Err(code)) => {
            slots.count(layer, Verdict::Error(code.0));
            if let Some(recorder) = &layers.recorder {
                recorder.offer_error(&layers.reporter, env, layer, code.0, sample);
            }
            layers.note_error(layer, code.0, sample);
            layers.note_answer(layer, sample, Answered::Error(code.0));
        }
        Some(Ok(frames)) if frames.is_full() => slots.drop(layer, Drop::TooDeep),
        Some(Ok(frames)) => return Some(frames.frames()),
    }
    None
}

/// Whether GetStackTrace's answer would make the ids of methods that got none, because they take too much memory.
fn would_make_ids(layers: &Layers, sample: &Sample) -> bool {
    let methods = &layers.truth.methods;
    let lacks_id = |frame: &Frame| frame.method.0 == 0;
    let is_seen = || match sample.reply {
        Reply::Walked(Ok(())) => sample.frames.frames().iter().any(lacks_id),
        _ => false,
    };
    methods.kept_ids.are_too_many() && (is_seen() || methods.lack_ids(sample.stack.hooks()))
}

/// Checks a stack of GetStackTrace in layer `gst`, and says what the class files allow; none where they
/// cannot tell.
fn judge_gst(layers: &Layers, env: Env<'_>, thread: Thread, gst: &[Frame]) -> Option<Vec<Finding>> {
    let judge = layers.edge_judge()?;
    let found = judge.findings_of_gst(env, Patience::Waits, thread, gst);
    super::gst::check_elsewhere(layers, env, thread.1, gst, found.as_deref());
    found
}

fn thread(target: &Target<'_>) -> Thread {
    (ptr::from_ref(target.state) as usize, target.tid)
}

/// How often threads were met in handlers.
struct InHandlers {
    /// The handler of each signal that was seen last. A profiler that stops takes its handler away.
    seen: [usize; SIGNALS],
    counts: BTreeMap<String, u64>,
    written: bool,
}

impl InHandlers {
    /// No thread was met in one.
    pub fn new() -> InHandlers {
        InHandlers {
            seen: [libc::SIG_DFL; SIGNALS],
            counts: BTreeMap::new(),
            written: true,
        }
    }

    /// Looks at the handlers that are installed.
    pub fn look(&mut self) {
        for signal in 1..SIGNALS as c_int {
            self.look_at(signal);
        }
    }

    fn look_at(&mut self, signal: c_int) -> Option<usize> {
        let seen = &mut self.seen[signal as usize];
        // The C library keeps two signals for itself, and refuses to tell.
        if let Ok(found) = earlier::find(signal)
            && ![libc::SIG_DFL, libc::SIG_IGN].contains(&found.sa_sigaction)
        {
            *seen = found.sa_sigaction;
        }
        (*seen != libc::SIG_DFL).then_some(*seen)
    }

    /// Counts an instant at which the handlers of `handled` were running. Returns whether there was one: a thread may
    /// have blocked a signal that has none.
    pub fn has_met(&mut self, handled: SignalSet) -> bool {
        let Some(handler) = handled.signals().find_map(|signal| self.look_at(signal)) else {
            return false;
        };
        let library = symbols::library(handler).unwrap_or_else(|| "code of no library".into());
        *self.counts.entry(library).or_default() += 1;
        self.written = false;
        true
    }

    /// The counts, if they have changed since they were taken last.
    pub fn take_new(&mut self) -> Option<Record> {
        let is_new = !std::mem::replace(&mut self.written, true);
        is_new.then(|| Record::InHandlers(self.counts.clone()))
    }
}
