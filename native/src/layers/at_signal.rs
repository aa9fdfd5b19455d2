//! The use of the sampler's samples: the layers of signals, each by the truth on which it rests, and the
//! profile of all stacks.

use super::at_suspend::Outside;
use super::context::Layers;
use super::with_classes::CallEdges;
use super::{at_event, profiles, with_next, with_trace};
use crate::edges::{Patience, Thread};
use crate::evidence;
use crate::jvm::jni::{Env, Ref};
use crate::jvm::os::heap::FreePages;
use crate::records::error_codes::{ErrorCodes, ErrorKey};
use crate::records::profile::Stacks;
use crate::sampling::altering::Alterations;
use crate::sampling::client::{Client, Stopped};
use crate::sampling::handler::Serving;
use crate::sampling::sample::{Reply, Sample};
use crate::sampling::sampler::{Means, Ready};
use crate::sampling::targets::Target;
use crate::walkers::buffer::{ErrorCode, FrameBuffer, MAX_FRAMES};
use crate::walkers::gst;
use hotspot::walkers::Walker;
use oracle::edge::Finding;
use oracle::judge::{Edged, NextTruth};
use oracle::record::Record;
use oracle::tally::Drop;
use oracle::trace::Frame;
use oracle::{Layer, TruthKind, Verdict};
use std::io;
use std::ptr;
use std::time::Instant;

/// What the signal handler asks.
pub fn serving(layers: &'static Layers) -> io::Result<Serving> {
    let config = layers.config;
    let alterations = config.sampling.altered.map(|altered| {
        let walkers = Layer::ALL.map(|layer| layers.walkers.of(layer)?.altered());
        Alterations::new(altered, config.seed, walkers, &config.run_dir)
    });
    Ok(Serving {
        walkers: Layer::ALL.map(|layer| layers.walkers.of(layer)?.in_handler()),
        java_threads: layers.truth.jvm.java_threads.as_ref(),
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
    /// GetStackTrace's answer.
    gst: FrameBuffer,
    /// GetStackTrace's answer for the virtual thread that the thread carries.
    of_virtual: FrameBuffer,
    /// Frames that a walker has only after the handler.
    later: FrameBuffer,
    edges: CallEdges<'e>,
    /// Walkers that are asked from outside.
    outside: Outside,
    /// Methods by the names that Java code gives.
    names: profiles::ByName,
    /// All walks.
    stacks: Stacks,
    /// Where there was none.
    errors: ErrorCodes,
    free_pages: FreePages,
}

impl<'e> Judging<'e> {
    fn new(layers: &'static Layers, env: Env<'e>) -> std::io::Result<Judging<'e>> {
        layers.let_class_files_judge();
        let mut edges = CallEdges::new(layers, env);
        edges.read_earlier();
        Ok(Judging {
            layers,
            env,
            gst: FrameBuffer::new(MAX_FRAMES)?,
            of_virtual: FrameBuffer::new(MAX_FRAMES)?,
            later: FrameBuffer::new(MAX_FRAMES)?,
            edges,
            outside: Outside::new(layers)?,
            names: profiles::ByName::default(),
            stacks: Stacks::default(),
            errors: ErrorCodes::default(),
            free_pages: FreePages::new(),
        })
    }

    fn judge_by_trace(&mut self, layer: Layer, target: &Target<'_>, sample: &Sample) {
        let (layers, env, edges) = (self.layers, self.env, &self.edges);
        let reply = reply(layers, layer, target, sample, &mut self.later);
        if let Some(walk) = read_walk(layers, env, &mut self.errors, layer, sample, reply) {
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
        let (layers, env) = (self.layers, self.env);
        let may_ask = !would_make_ids(layers, sample);
        let ask_running = || self.outside.ask_running(layers, env, target);
        if let Some((of, answer)) = may_ask.then(ask_running).flatten() {
            let answer = answer.as_deref();
            return profiles::in_java(layers, of, sample, answer, &mut self.names);
        }
        let thread = thread(target);
        // First of all: the thread runs on.
        let (of_virtual, gst) = if may_ask {
            (
                stack_of_virtual(layers, env, target, sample, &mut self.of_virtual),
                stack_of(layers, env, target, &mut self.gst),
            )
        } else {
            (None, None)
        };
        let found = gst.and_then(|gst| judge_gst(layers, env, thread, gst));
        if may_ask {
            profiles::at_safepoint(layers, sample, gst);
        }
        let reply = reply(layers, layer, target, sample, &mut self.later);
        let Some(walk) = read_walk(layers, env, &mut self.errors, layer, sample, reply) else {
            return;
        };
        // Of one layer only: those of the other are taken in another rhythm.
        if !layers.config.hooks.is_on() && !layers.config.edges {
            self.stacks.add(walk);
        }
        let edges = |walk: &[Frame]| self.edges.findings(thread, walk);
        let threads = layers.truth.virtual_threads.as_ref();
        let boundary = threads.and_then(|threads| threads.boundary(walk));
        let whole = boundary
            .zip(of_virtual.zip(gst))
            .map(|(at, parts)| with_next::with_carrier(walk, at, parts));
        let (gst, found) = match &whole {
            Some(whole) => (Some(&whole[..]), edges(whole)),
            None => (gst, found),
        };
        let truth = gst.map(|gst| NextTruth {
            later: Edged::new(gst, found.as_deref()),
            lacks_virtual: boundary.is_some() && whole.is_none(),
            edges: &edges,
        });
        let evidence = |walk: &[Frame]| self.edges.evidence(thread, walk);
        let answer = (target.tid, sample, walk);
        with_next::check(layers, layer, env, answer, truth.as_ref(), &evidence);
    }

    fn judge_by_classes(&mut self, layer: Layer, target: &Target<'_>, sample: &Sample) {
        // What it costs belongs to the classes, not to this stack.
        self.edges.read_loaded();
        let of = thread(target);
        if self.edges.wants_start(of)
            && !would_make_ids(self.layers, sample)
            && let Some(gst) = stack_of(self.layers, self.env, target, &mut self.gst)
        {
            judge_gst(self.layers, self.env, of, gst);
        }
        let (layers, errors) = (self.layers, &mut self.errors);
        let reply = reply(layers, layer, target, sample, &mut self.later);
        if let Some(walk) = read_walk(layers, self.env, errors, layer, sample, reply) {
            self.stacks.add(walk);
            self.edges.check(layer, of, sample, walk);
        }
    }
}

impl Client for Judging<'_> {
    fn judge(&mut self, layer: Layer, target: &Target<'_>, sample: &Sample) {
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
        if let Some(errors) = self.errors.take_new() {
            layers.records.write(&Record::Errors(errors));
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
    errors: &mut ErrorCodes,
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
            let anchor = sample.anchor;
            let key = ErrorKey {
                layer,
                code: code.0,
                state: anchor.map_or("unknown", |anchor| anchor.state.name()),
                intact: Walker::of(layer).is_some_and(|walker| walker.refuses(code.0))
                    && evidence::is_intact(layers.truth.jvm, sample),
            };
            let find = |pc| evidence::kind_at(layers.truth.jvm, pc);
            errors.add_at(key, sample.registers.pc, find);
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

/// GetStackTrace of the target at its next safepoint; none while a virtual thread acts as its carrier for
/// a moment.
fn stack_of<'b>(
    layers: &Layers,
    env: Env<'_>,
    target: &Target<'_>,
    buffer: &'b mut FrameBuffer,
) -> Option<&'b [Frame]> {
    let object = target.object.as_ref()?.get();
    let stack = walk_of(layers, env, object, buffer)?;
    let threads = layers.truth.virtual_threads.as_ref();
    let is_virtual = threads.is_some_and(|threads| threads.is_of_virtual_thread(stack));
    (!is_virtual).then_some(stack)
}

/// GetStackTrace of the virtual thread that the target carried in `sample`, if the target still carries
/// this one.
fn stack_of_virtual<'b>(
    layers: &Layers,
    env: Env<'_>,
    target: &Target<'_>,
    sample: &Sample,
    buffer: &'b mut FrameBuffer,
) -> Option<&'b [Frame]> {
    let threads = layers.truth.virtual_threads.as_ref();
    let (threads, carrier) = threads
        .filter(|_| sample.carried)
        .zip(target.object.as_ref())?;
    let jvmti = layers.truth.jvm.jvmti;
    let thread = threads.carried_by(jvmti, env, carrier.get(), sample.copy_of)?;
    walk_of(layers, env, thread.get(), buffer)
}

/// GetStackTrace of a thread at its next safepoint.
fn walk_of<'b>(
    layers: &Layers,
    env: Env<'_>,
    thread: Ref<'_>,
    buffer: &'b mut FrameBuffer,
) -> Option<&'b [Frame]> {
    let walker = layers.walkers.get(gst::NAME)?.elsewhere()?;
    walker.walk(env, thread, buffer).ok()?;
    (!buffer.is_full()).then(|| buffer.frames())
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
