//! The way of each check: judge, inject, count, report. Between the first two the sample may be
//! recorded for tests.

use super::context::Layers;
use crate::evidence::{Found, Seen};
use crate::injection::walker_faults::Answered;
use crate::jvm::jni::Env;
use crate::recorder::Judged;
use crate::truth::methods::registry::Registry;
use oracle::mutants::Sight;
use oracle::record::Evidence;
use oracle::trace::Frame;
use oracle::{Judgement, Layer};

/// One check of one layer.
pub struct Check<'a> {
    /// The layer.
    pub layer: Layer,
    /// The calling thread's environment.
    pub env: Env<'a>,
    /// Kernel id of the thread whose stack was walked.
    pub tid: i32,
    /// How the stack was seen.
    pub seen: Seen<'a>,
    /// What the layer holds the walk against.
    pub sight: &'a Sight<'a, Registry>,
    /// What the walk was compared with, as far as that consists of method keys.
    pub reference: &'a [&'a [Frame]],
    /// Further evidence on a stack.
    pub evidence: &'a dyn Fn(&[Frame]) -> Evidence,
}

impl Check<'_> {
    /// Judges `walk` by the layer's sight, and goes the whole way. Returns the judgement of what
    /// the walker really answered.
    pub fn go(&self, layers: &Layers, walk: &[Frame]) -> Judgement {
        let judge = |walk: &[Frame]| self.sight.judge(walk);
        self.go_on(layers, walk, judge(walk), judge)
    }

    /// Goes the rest of the way, where `walk` was `judged` already. `judge` judges a fault that
    /// takes its place.
    pub fn go_on(
        &self,
        layers: &Layers,
        walk: &[Frame],
        judged: Judgement,
        judge: impl Fn(&[Frame]) -> Judgement,
    ) -> Judgement {
        let methods = &layers.truth.methods;
        self.settled(
            layers,
            walk,
            methods.settle(judged, walk, self.reference),
            judge,
        )
    }

    /// Goes the rest of the way, where `walk` was judged with redefined methods in mind: `honest` stays.
    pub fn settled(
        &self,
        layers: &Layers,
        walk: &[Frame],
        honest: Judgement,
        judge: impl Fn(&[Frame]) -> Judgement,
    ) -> Judgement {
        self.record(layers, walk, honest);
        let answered = Answered {
            env: self.env,
            layer: self.layer,
            tid: self.tid,
            walk,
            judgement: honest,
        };
        let fault = layers.injector.inject(answered, self.sight, judge);
        let (walk, judgement) = fault
            .as_ref()
            .map_or((walk, honest), |fault| (&fault.walk, fault.judgement));
        layers.records.slots.judged(self.layer, &judgement);
        self.report(layers, walk, judgement);
        honest
    }

    fn record(&self, layers: &Layers, walk: &[Frame], judgement: Judgement) {
        if let Some(recorder) = &layers.recorder {
            let judged = Judged {
                layer: self.layer,
                walk,
                judgement,
                sight: self.sight,
                seen: self.seen,
            };
            recorder.offer(&layers.reporter, self.env, judged);
        }
    }

    fn report(&self, layers: &Layers, walk: &[Frame], judgement: Judgement) {
        if !judgement.differs() {
            return;
        }
        let found = Found {
            layer: self.layer,
            judgement,
            tid: self.tid,
            walk,
            sight: self.sight,
            seen: self.seen,
        };
        let evidence = || (self.evidence)(walk);
        layers.reporter.report(self.env, found, evidence);
    }
}

/// No further evidence.
pub fn nothing_more(_: &[Frame]) -> Evidence {
    Evidence::default()
}
