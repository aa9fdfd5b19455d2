//! Layers that rest on class files, such as `call-edge`: a walker in a signal handler. Can each frame have
//! called the frame above it?

use super::context::Layers;
use super::native_top::Top;
use super::path::Check;
use crate::edges::{EdgeJudge, Patience, Thread, found_edges, odd_edges};
use crate::evidence::Sampled;
use crate::jvm::jni::Env;
use crate::jvm::os::clock;
use crate::sampling::sample::Sample;
use crate::truth::class_files::Earlier;
use oracle::Layer;
use oracle::edge::{Counts, Finding};
use oracle::judge::{ClassesTruth, NativeTop};
use oracle::record::{EdgeCounts, Evidence, Record};
use oracle::trace::Frame;
use std::ptr;
use std::time::Duration;

/// Judges stacks by class files, and counts what was found.
pub struct CallEdges<'e> {
    layers: &'static Layers,
    env: Env<'e>,
    /// Where class files are kept.
    judge: Option<&'static EdgeJudge>,
    /// Classes that no event has shown.
    earlier: Earlier<'e>,
    /// What was found of the edges of walks in these layers.
    walks: Counts,
    /// CPU time that these layers took.
    judging: Duration,
}

impl<'e> CallEdges<'e> {
    /// For the sampler, whose environment is `env`.
    pub fn new(layers: &'static Layers, env: Env<'e>) -> CallEdges<'e> {
        let judge = layers.edge_judge();
        let jvmti = layers.truth.jvm.jvmti;
        // Where hooks are on, all classes are shown as they load.
        let earlier = if judge.is_some() && !layers.config.hooks.is_on() {
            Earlier::all(jvmti, env)
        } else {
            Earlier::none()
        };
        CallEdges {
            layers,
            env,
            judge,
            earlier,
            walks: Counts::default(),
            judging: Duration::ZERO,
        }
    }

    /// Reads the classes that were loaded, so that they do not pile up if no stack is judged.
    pub fn read_loaded(&self) {
        if let Some(judge) = self.judge {
            judge.read_loaded();
        }
    }

    /// Reads the classes that were loaded before their files were shown, as far as that can be done by now.
    pub fn read_earlier(&mut self) {
        if let Some(judge) = self.judge {
            judge.read_earlier(&mut self.earlier);
        }
    }

    /// Whether GetStackTrace is to be asked how `thread` started.
    pub fn wants_start(&self, thread: Thread) -> bool {
        self.judge.is_some_and(|judge| judge.wants_start(thread))
    }

    /// What class files say of a stack of `thread`; `None` if they cannot tell.
    pub fn findings(&self, thread: Thread, stack: &[Frame]) -> Option<Vec<Finding>> {
        self.judge?
            .sure_findings(self.env, Patience::Waits, thread, stack)
    }

    /// What class files say of a stack of `thread`, as evidence in any layer.
    pub fn evidence(&self, thread: Thread, stack: &[Frame]) -> Evidence {
        let find = |judge: &EdgeJudge| judge.findings(self.env, thread, stack);
        Evidence {
            edges: self.judge.and_then(find).as_deref().map(odd_edges),
            ..Evidence::default()
        }
    }

    /// Checks `walk`, the answer in `sample` for `thread`, in `layer`.
    pub fn check(&mut self, layer: Layer, thread: Thread, sample: &Sample, walk: &[Frame]) {
        let start = clock::thread_cpu_time();
        let found = self.findings(thread, walk);
        if let Some(found) = &found {
            self.walks.add(found);
        }
        let edges = |other: &[Frame]| match &found {
            found if ptr::eq(other, walk) => found.clone(),
            _ => self.findings(thread, other),
        };
        let check = Check {
            layer,
            env: self.env,
            tid: thread.1,
            seen: Sampled::InSignal(sample),
            event: None,
            evidence: &|walk| self.evidence(thread, walk),
        };
        let top = Top::of_walk(self.layers, layer, sample);
        let methods = &self.layers.truth.methods;
        let truth = NativeTop {
            truth: &ClassesTruth(&edges),
            is_top: top
                .as_ref()
                .map(|top| |frame| top.is(self.env, methods, frame)),
        };
        check.run(self.layers, walk, &truth);
        self.judging += clock::thread_cpu_time().saturating_sub(start);
    }

    /// Writes down all counts so far.
    pub fn record(&self) {
        let Some(judge) = self.judge else { return };
        let (gst, (checks_unjudged, checks_ns)) = (judge.counted_of_gst(), judge.checks());
        let edges = EdgeCounts {
            asgct: found_edges(&self.walks),
            gst: found_edges(&gst),
            judging_ns: self.judging.as_nanos() as u64,
            checks_unjudged,
            checks_ns,
        };
        if !edges.is_empty() {
            self.layers.records.write(&Record::Edges(edges));
        }
    }
}
