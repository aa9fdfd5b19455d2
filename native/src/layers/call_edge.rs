//! Layer `call-edge`: AsyncGetCallTrace in a signal handler, held against the class files: can
//! each frame have called the one above it?

use super::context::Layers;
use super::path::Check;
use super::walks::{self, Thread, Walks};
use crate::evidence::{Found, Seen};
use crate::jvm::jni::Env;
use crate::jvm::os::clock;
use crate::sampling::sample::Sample;
use crate::truth::methods::registry::Registry;
use oracle::Layer;
use oracle::edge::{Counts, Finding};
use oracle::judge::judge_edges;
use oracle::mutants::Sight;
use oracle::record::{EdgeCounts, Evidence, Record};
use oracle::trace::Frame;
use std::cell::RefCell;
use std::time::Duration;

/// Judges stacks by class files, and counts what was found.
pub struct CallEdges<'e> {
    layers: &'static Layers,
    env: Env<'e>,
    /// Where class files are kept.
    walks: Option<RefCell<Walks<'e>>>,
    /// What was found of the edges of walks in this layer.
    asgct: Counts,
    /// What was found of the edges of GetStackTrace's stacks.
    gst: Counts,
    /// CPU time that this layer took.
    judging: Duration,
}

impl<'e> CallEdges<'e> {
    /// For the sampler, whose environment is `env`.
    pub fn new(layers: &'static Layers, env: Env<'e>) -> CallEdges<'e> {
        CallEdges {
            layers,
            env,
            walks: Walks::new(layers.truth, env).map(RefCell::new),
            asgct: Counts::default(),
            gst: Counts::default(),
            judging: Duration::ZERO,
        }
    }

    /// Reads the classes that were loaded, lest they pile up where nobody is judged.
    pub fn read_loaded(&mut self) {
        if let Some(walks) = &mut self.walks {
            walks.get_mut().read_loaded();
        }
    }

    /// Whether [`CallEdges::learn`] is to be told a stack of `thread`.
    pub fn wants_start(&mut self, thread: Thread) -> bool {
        let walks = self.walks.as_mut().map(RefCell::get_mut);
        walks.is_some_and(|walks| walks.wants_start(thread))
    }

    /// Learns from a stack of `thread` by GetStackTrace how it started.
    pub fn learn(&mut self, thread: Thread, gst: &[Frame]) {
        if let Some(walks) = &mut self.walks {
            walks.get_mut().learn(thread, gst);
        }
    }

    /// What class files say of a stack of `thread`; `None` if they cannot tell.
    pub fn findings(&self, thread: Thread, stack: &[Frame]) -> Option<Vec<Finding>> {
        let mut walks = self.walks.as_ref()?.borrow_mut();
        walks.sure_findings(thread, stack)
    }

    /// What class files say of a stack of `thread`, as evidence in any layer.
    pub fn evidence(&self, thread: Thread, stack: &[Frame]) -> Evidence {
        let mut walks = self.walks.as_ref().map(RefCell::borrow_mut);
        let found = walks
            .as_mut()
            .and_then(|walks| walks.findings(thread, stack));
        Evidence {
            edges: found.map(walks::evidence),
            ..Evidence::default()
        }
    }

    /// Checks `walk`, the answer in `sample` for `thread`, in this layer.
    pub fn check(&mut self, thread: Thread, sample: &Sample, walk: &[Frame]) {
        let start = clock::thread_cpu_time();
        let Some(walks) = &mut self.walks else { return };
        walks.get_mut().read_loaded();
        let found = self.findings(thread, walk);
        if let Some(found) = &found {
            self.asgct.add(found);
        }
        let edges = |walk: &[Frame]| self.findings(thread, walk);
        let sight = Sight::<Registry>::Edges(&edges);
        let check = Check {
            layer: Layer::CallEdge,
            env: self.env,
            tid: thread.1,
            seen: Seen::InSignal(sample),
            sight: &sight,
            reference: &[],
            evidence: &|walk| self.evidence(thread, walk),
        };
        let judged = judge_edges(found.as_deref());
        check.go_on(self.layers, walk, judged, |walk| sight.judge(walk));
        self.judging += clock::thread_cpu_time().saturating_sub(start);
    }

    /// Judges the edges of a stack of GetStackTrace, where class files are kept. One that is
    /// impossible is written down, but is no check: it speaks against the judge.
    pub fn look_at_reference(&mut self, thread: Thread, gst: &[Frame]) -> Option<Vec<Finding>> {
        let reporter = &self.layers.reporter;
        let walks = self.walks.as_mut()?.get_mut();
        walks.learn(thread, gst);
        let edges = walks.findings(thread, gst)?.to_vec();
        self.gst.add(&edges);
        let judgement = judge_edges(Some(&edges));
        let layer = Layer::CallEdge;
        if judgement.is_mismatch()
            && let Some(place) = reporter.kept((layer, judgement.verdict, None))
        {
            let evidence = Evidence {
                walker: Some("GetStackTrace".into()),
                edges: Some(walks::evidence(&edges)),
                ..Evidence::default()
            };
            let found = Found {
                layer,
                judgement,
                tid: thread.1,
                walk: gst,
                sight: &Sight::Edges(&|_| None),
                seen: Seen::Plainly,
            };
            reporter.keep(self.env, found, place, evidence);
        }
        Some(edges)
    }

    /// Writes down all counts so far.
    pub fn record(&self) {
        let edges = EdgeCounts {
            asgct: walks::summary(&self.asgct),
            gst: walks::summary(&self.gst),
            judging_ns: self.judging.as_nanos() as u64,
        };
        if !edges.is_empty() {
            self.layers.records.write(&Record::Edges(edges));
        }
    }
}
