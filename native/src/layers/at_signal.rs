//! What becomes of the sampler's samples: verdicts, evidence, and the profile of them all.

use crate::agent::Agent;
use crate::evidence::compiled;
use crate::evidence::{self, Found, Walker};
use crate::injection::Said;
use crate::jvm::jvmti::FrameInfo;
use crate::jvm::os::cpu_time;
use crate::layers::at_check::{MAX_FRAMES, frame_of};
use crate::layers::walks::{self, Thread, Walks};
use crate::recorder::{self, Judged};
use crate::records::error_codes::ErrorCodes;
use crate::records::profile::Stacks;
use crate::sampling::sample::{Outcome, Sample};
use crate::sampling::targets::Target;
use crate::truth::methods::Registry;
use crate::truth::trace_stack::StackCopy;
use hotspot::debug_info::judge_between;
use jni_sys::JNIEnv;
use oracle::edge::{Counts, Finding};
use oracle::judge::{Edged, judge_edges};
use oracle::mutants::Sight;
use oracle::record::{EdgeCounts, Evidence, Record, ShownFrame};
use oracle::tally::Drop;
use oracle::trace::{Frame, HookId};
use oracle::{Judgement, Layer, Verdict};
use std::cell::RefCell;
use std::ptr;
use std::time::Duration;

/// Judges samples, and keeps what is written down of them all.
pub struct Judging {
    agent: &'static Agent,
    env: *mut JNIEnv,
    walk: Vec<Frame>,
    hooks: Vec<HookId>,
    gst: Vec<FrameInfo>,
    /// Where class files are kept.
    walks: Option<Walks>,
    /// What was found of the edges of walks in layer `call-edge`.
    edges: Counts,
    /// What was found of the edges of GetStackTrace's stacks.
    reference_edges: Counts,
    /// CPU time that layer `call-edge` took.
    judging: Duration,
    /// All walks.
    stacks: Stacks,
    /// Where there was none.
    errors: ErrorCodes,
}

impl Judging {
    /// For the sampler, whose environment is `env`.
    pub fn new(agent: &'static Agent, env: *mut JNIEnv) -> Judging {
        let spare = FrameInfo {
            method: ptr::null_mut(),
            location: 0,
        };
        Judging {
            agent,
            env,
            walk: Vec::new(),
            hooks: Vec::new(),
            gst: vec![spare; MAX_FRAMES],
            walks: Walks::new(agent, env),
            edges: Counts::default(),
            reference_edges: Counts::default(),
            judging: Duration::ZERO,
            stacks: Stacks::default(),
            errors: ErrorCodes::default(),
        }
    }

    /// Writes down all stacks and errors so far.
    pub fn record_profile(&mut self) {
        let (agent, env) = (self.agent, self.env);
        let profile = self.stacks.profile(|key| agent.methods.profiled(env, key));
        if !profile.is_empty() {
            agent.records.write(&Record::Profile(profile));
        }
        if let Some(errors) = self.errors.take_new() {
            agent.records.write(&Record::Errors(errors));
        }
        let edges = EdgeCounts {
            asgct: walks::summary(&self.edges),
            gst: walks::summary(&self.reference_edges),
            judging_ns: self.judging.as_nanos() as u64,
        };
        if !edges.is_empty() {
            agent.records.write(&Record::Edges(edges));
        }
    }

    /// Reads the classes that were loaded, lest they pile up where nobody is judged.
    pub fn read_loaded(&mut self) {
        if let Some(walks) = &mut self.walks {
            walks.read_loaded();
        }
    }

    /// Judges a sample of layer `asgct-async`.
    pub fn judge_async(&mut self, target: &Target, sample: &Sample) {
        if self.read_walk(Layer::AsgctAsync, sample) {
            self.stacks.add(&self.walk);
            self.compare_with_truth(target, sample);
        }
    }

    /// Judges a sample of layer `asgct-gst` that was taken just now.
    pub fn judge_gst(&mut self, target: &Target, sample: &Sample) {
        // First of all: the thread runs on.
        let gst = self.stack_of(target);
        let found = gst
            .as_deref()
            .and_then(|gst| self.look_at_reference(target, gst));
        if self.read_walk(Layer::AsgctGst, sample) {
            // Of one layer only: those of the other are taken in another rhythm.
            let config = &self.agent.config;
            if !config.hooks.is_on() && !config.edges {
                self.stacks.add(&self.walk);
            }
            let later = gst.as_deref().map(|gst| Edged::new(gst, found.as_deref()));
            self.compare_with_gst(target, sample, later);
        }
    }

    /// Judges a sample of layer `call-edge`.
    pub fn judge_edges(&mut self, target: &Target, sample: &Sample) {
        let (agent, layer) = (self.agent, Layer::CallEdge);
        // What it costs belongs to the classes, not to this stack.
        self.read_loaded();
        let start = cpu_time::now();
        if !self.read_walk(layer, sample) {
            return;
        }
        self.stacks.add(&self.walk);
        let Some(walks) = &mut self.walks else { return };
        let thread = thread(target);
        walks.learn(thread, &self.walk);
        let walks = RefCell::new(walks);
        let edges = |walk: &[Frame]| walks.borrow_mut().sure_findings(thread, walk);
        let found = edges(&self.walk);
        if let Some(found) = &found {
            self.edges.add(found);
        }
        let mut judgement = judge_edges(found.as_deref());
        let sight = Sight::<Registry>::Edges(&edges);
        let judged = judged(layer, &self.walk, judgement, &sight, sample);
        recorder::offer(agent, self.env, judged);
        let said = said(self.env, target, layer, &self.walk, judgement);
        if let Some(lie) = agent.liar.tell(agent, said, &sight, |lie| sight.judge(lie)) {
            (self.walk, judgement) = (lie.walk, lie.judgement);
        }
        agent.slots.count(layer, judgement.verdict);
        self.judging += cpu_time::now().saturating_sub(start);
        if judgement.is_mismatch() && evidence::wanted(agent, layer, judgement.verdict) {
            self.report(target, sample, layer, judgement, vec![]);
        }
    }

    /// Judges the edges of a stack of GetStackTrace, where class files are kept. One that is
    /// impossible is written down, but is no check: it speaks against the judge.
    fn look_at_reference(&mut self, target: &Target, gst: &[Frame]) -> Option<Vec<Finding>> {
        let (agent, env) = (self.agent, self.env);
        let walks = self.walks.as_mut()?;
        walks.learn(thread(target), gst);
        let edges = walks.findings(thread(target), gst)?.to_vec();
        self.reference_edges.add(&edges);
        let judgement = judge_edges(Some(&edges));
        let (layer, kind) = (Layer::CallEdge, Verdict::Unverifiable);
        if judgement.is_mismatch() && evidence::wanted(agent, layer, kind) {
            let evidence = Evidence {
                walker: Some("GetStackTrace".into()),
                edges: Some(walks::evidence(&edges)),
                ..Evidence::default()
            };
            let found = Found {
                layer,
                judgement,
                tid: target.tid,
                walker: Walker::Gst,
                walk: gst,
                truth: vec![],
                evidence,
            };
            evidence::record(agent, env, found);
        }
        Some(edges)
    }

    /// Reads the walk; counts the sample and returns false if there is none.
    fn read_walk(&mut self, layer: Layer, sample: &Sample) -> bool {
        let slots = &self.agent.slots;
        match sample.outcome {
            Outcome::OtherThread => slots.drop(layer, Drop::ThreadEnded),
            Outcome::Walked(code) if code <= 0 => {
                slots.count(layer, Verdict::Error(code));
                recorder::offer_error(self.agent, self.env, layer, code, sample);
                let anchor = sample.anchor;
                let state = anchor.map_or("unknown", |anchor| anchor.state_name());
                let find = |pc| evidence::kind_at(self.agent, pc);
                self.errors
                    .add_at((layer, code, state), sample.registers.pc, find);
            }
            Outcome::Walked(count) if count as usize >= MAX_FRAMES => {
                slots.drop(layer, Drop::TooDeep);
            }
            Outcome::Walked(_) => {
                self.walk.clear();
                self.walk.extend(sample.walk());
                return true;
            }
        }
        false
    }

    /// GetStackTrace of the target at its next safepoint.
    fn stack_of(&mut self, target: &Target) -> Option<Vec<Frame>> {
        let object = target.object.as_ref()?.object();
        let count = self.agent.jvmti.stack_trace(object, &mut self.gst).ok()?;
        (count < MAX_FRAMES).then(|| self.gst[..count].iter().map(frame_of).collect())
    }

    fn compare_with_truth(&mut self, target: &Target, sample: &Sample) {
        let (agent, layer) = (self.agent, Layer::AsgctAsync);
        if let Err(cause) = sample.copied {
            return agent.slots.drop(layer, cause);
        }
        self.hooks.clear();
        self.hooks.extend(sample.stack.hooks());
        let leaving = |stack: &StackCopy| {
            stack.leaving(|called, hook| agent.methods.is_left_by(called, hook))
        };
        let left = leaving(&sample.stack);
        let truth = sample.stack.truth(&self.hooks, &left);
        let (below, left_below);
        let carrier = match sample.carried {
            true => {
                below = sample.carrier.hooks().collect::<Vec<_>>();
                left_below = leaving(&sample.carrier);
                Some(sample.carrier.truth(&below, &left_below))
            }
            false => None,
        };
        let threads = agent.virtual_threads.as_ref();
        let sight = Sight::Truths {
            truth: &truth,
            carrier: carrier.as_ref(),
            methods: &agent.methods,
            boundary: &|walk| threads?.boundary(walk),
        };
        let judge = |walk: &[Frame]| sight.judge(walk);
        let judge = |walk: &[Frame]| {
            let judgement = judge(walk);
            if !judgement.is_mismatch() {
                return judgement;
            }
            let whole = carrier.is_none().then_some(&truth);
            let around = compiled::records_around(agent, sample);
            let again = around.and_then(|around| {
                let (methods, key_of) = (&agent.methods, |hook| agent.methods.key_of(hook));
                judge_between(&around, methods, key_of, judgement, walk, whole, judge)
            });
            again.unwrap_or(judgement)
        };
        let below = carrier.map_or(&[][..], |carrier| carrier.checked);
        let checked = [truth.checked, below];
        let judge = |walk: &[Frame]| {
            let judgement = judge(walk);
            agent.methods.settle(judgement, walk, &checked)
        };
        let mut judgement = judge(&self.walk);
        let judged = judged(layer, &self.walk, judgement, &sight, sample);
        recorder::offer(agent, self.env, judged);
        let said = said(self.env, target, layer, &self.walk, judgement);
        if let Some(lie) = agent.liar.tell(agent, said, &sight, judge) {
            (self.walk, judgement) = (lie.walk, lie.judgement);
        }
        agent.slots.count(layer, judgement.verdict);
        if judgement.is_mismatch() && evidence::wanted(agent, layer, judgement.verdict) {
            let shown = |truth| evidence::show_truth(agent, self.env, truth);
            let mut frames = shown(&truth);
            frames.extend(carrier.iter().flat_map(shown));
            let truth = frames;
            self.report(target, sample, layer, judgement, truth);
        }
    }

    fn compare_with_gst(&mut self, target: &Target, sample: &Sample, later: Option<Edged<'_>>) {
        let (agent, layer) = (self.agent, Layer::AsgctGst);
        let Some(later) = later else {
            return agent.slots.count(layer, Verdict::Unverifiable);
        };
        let gst = later.stack;
        let walks = RefCell::new(self.walks.as_mut());
        let edges = |walk: &[Frame]| {
            let mut walks = walks.borrow_mut();
            walks.as_mut()?.sure_findings(thread(target), walk)
        };
        let sight = Sight::<Registry>::Later(later, &edges);
        let methods = &agent.methods;
        let mut judgement = methods.settle(sight.judge(&self.walk), &self.walk, &[gst]);
        let judged = judged(layer, &self.walk, judgement, &sight, sample);
        recorder::offer(agent, self.env, judged);
        let said = said(self.env, target, layer, &self.walk, judgement);
        if let Some(lie) = agent.liar.tell(agent, said, &sight, |lie| sight.judge(lie)) {
            (self.walk, judgement) = (lie.walk, lie.judgement);
        }
        agent.slots.count(layer, judgement.verdict);
        if judgement.is_mismatch() && evidence::wanted(agent, layer, judgement.verdict) {
            let truth = evidence::show(agent, self.env, gst);
            self.report(target, sample, layer, judgement, truth);
        }
    }

    fn report(
        &mut self,
        target: &Target,
        sample: &Sample,
        layer: Layer,
        judgement: Judgement,
        truth: Vec<ShownFrame>,
    ) {
        let mut evidence = Evidence::default();
        let walks = self.walks.as_mut();
        let found = walks.and_then(|walks| walks.findings(thread(target), &self.walk));
        if let Some(found) = found {
            evidence.edges = Some(walks::evidence(found));
        }
        let (tid, walk) = (target.tid, self.walk.as_slice());
        evidence::record(
            self.agent,
            self.env,
            Found {
                layer,
                judgement,
                tid,
                walker: Walker::AsgctInSignal(sample),
                walk,
                truth,
                evidence,
            },
        );
    }
}

fn thread(target: &Target) -> Thread {
    (ptr::from_ref(target.state) as usize, target.tid)
}

fn judged<'a>(
    layer: Layer,
    walk: &'a [Frame],
    judgement: Judgement,
    sight: &'a Sight<'a, Registry>,
    sample: &'a Sample,
) -> Judged<'a> {
    Judged {
        layer,
        walk,
        judgement,
        sight,
        walker: Walker::AsgctInSignal(sample),
    }
}

fn said<'a>(
    env: *mut JNIEnv,
    target: &Target,
    layer: Layer,
    walk: &'a [Frame],
    judgement: Judgement,
) -> Said<'a> {
    let tid = target.tid;
    Said {
        env,
        layer,
        tid,
        walk,
        judgement,
    }
}
