//! The path of each check: judge, inject, count, pair, report. After the judge, the sample may be
//! recorded for tests.

use super::context::Layers;
use super::profiles::Ran;
use crate::evidence::{Found, Sampled};
use crate::injection::walker_faults::Answered;
use crate::jvm::jni::Env;
use crate::locks::lock;
use crate::records::instants::{Answer, MismatchKind};
use crate::records::pairs::Named;
use crate::truth::methods::registry::Registry;
use hotspot::claims::code_of_other_state;
use oracle::bias::{Claim, Sampler, claim, hooked};
use oracle::judge::{Settled, Stack, Truth};
use oracle::record::Evidence;
use oracle::trace::Frame;
use oracle::{Judgement, Layer, Verdict};

/// One check of one layer.
pub struct Check<'a> {
    /// The layer.
    pub layer: Layer,
    /// The calling thread's environment.
    pub env: Env<'a>,
    /// Kernel id of the thread whose stack was walked.
    pub tid: i32,
    /// How the stack was sampled.
    pub seen: Sampled<'a>,
    /// The kind of event in which the walker was asked; none elsewhere.
    pub event: Option<&'a str>,
    /// Further evidence on a stack.
    pub evidence: &'a dyn Fn(&[Frame]) -> Evidence,
}

impl Check<'_> {
    /// Judges `walk` by the layer's `truth`, and runs the whole path. Returns the judgement of the
    /// walker's own answer.
    pub fn run(&self, layers: &Layers, walk: &[Frame], truth: &impl Truth) -> Judgement {
        let honest = truth.judge(walk);
        self.record(layers, walk, honest, truth);
        let answered = Answered {
            env: self.env,
            layer: self.layer,
            tid: self.tid,
            walk,
            judgement: honest,
            code_of_other_state: match self.seen {
                Sampled::InSignal(sample) => {
                    code_of_other_state(self.layer, Some(sample.state_name()))
                }
                Sampled::Here | Sampled::Plainly => code_of_other_state(self.layer, None),
            },
        };
        let fault = layers.injector.inject(answered, truth);
        let (walk, judgement) = fault
            .as_ref()
            .map_or((walk, honest), |fault| (&fault.walk, fault.judgement));
        layers.records.slots.judged(self.layer, &judgement);
        if let (Verdict::Error(code), Sampled::InSignal(sample)) = (judgement.verdict, self.seen) {
            // A walker's own errors are counted before there is a stack to judge.
            layers.note_error(self.layer, code, sample);
        }
        self.pair(layers, walk, judgement, truth);
        let reported = self.report(layers, walk, judgement, truth);
        let answer = match (judgement.verdict, &reported) {
            (Verdict::Error(code), _) => Answer::Error(code),
            (_, Some((kind, place))) => Answer::Differs(*kind, place),
            _ => Answer::Other,
        };
        self.note_answer(layers, answer);
        honest
    }

    /// `walk`, judged, as records and reports take it.
    fn found<'a>(
        &'a self,
        layers: &'a Layers,
        walk: &'a [Frame],
        judgement: Judgement,
        truth: &'a dyn Truth,
    ) -> Found<'a> {
        Found {
            layer: self.layer,
            judgement,
            tid: self.tid,
            walk,
            truth,
            seen: self.seen,
            edges: layers.edge_judge(),
        }
    }

    fn record(&self, layers: &Layers, walk: &[Frame], judgement: Judgement, truth: &dyn Truth) {
        if let Some(recorder) = &layers.recorder {
            let found = self.found(layers, walk, judgement, truth);
            recorder.offer(&layers.reporter, self.env, found);
        }
    }

    /// Counts which methods ran at the instant of a signal, and which the walker names.
    fn pair(&self, layers: &Layers, walk: &[Frame], judgement: Judgement, truth: &dyn Truth) {
        let Sampled::InSignal(_) = self.seen else {
            return;
        };
        let Some(ran) = Ran::of(&truth.stacks()) else {
            return;
        };
        let (methods, injector) = (&layers.truth.methods, &layers.injector);
        let biased = injector.biased(self.layer, ran.newest, (walk, judgement), truth);
        let (walk, judgement) = match &biased {
            _ if !injector.gives_profile_of(self.layer) => (walk, judgement),
            Some(fault) => (&*fault.walk, fault.judgement),
            None => return,
        };
        let claim = claim(&judgement, walk, methods);
        let named = claim.map(|key| key.map(Named::Key));
        let stack = match named {
            Claim::Named(_) => hooked(walk, methods),
            _ => vec![],
        };
        let shown = claim.map(|_| &stack[..]);
        ran.count(layers, Sampler::Walker(self.layer), named, shown);
    }

    /// Counts the answer by the kind of instant at which the walker was asked.
    fn note_answer(&self, layers: &Layers, answer: Answer<'_>) {
        match (self.seen, self.event) {
            (Sampled::InSignal(sample), _) => layers.note_answer(self.layer, sample, answer),
            (_, Some(event)) => lock(&layers.records.instants).add(self.layer, event, answer),
            _ => {}
        }
    }

    /// Reports a mismatch, and returns its kind and place.
    fn report(
        &self,
        layers: &Layers,
        walk: &[Frame],
        judgement: Judgement,
        truth: &dyn Truth,
    ) -> Option<(MismatchKind, String)> {
        // A layer that nobody asked for may be asked on behalf of another, and is in no table.
        let is_asked_for = layers.config.layers.contains(&self.layer);
        if !judgement.differs() || !is_asked_for {
            return None;
        }
        let found = self.found(layers, walk, judgement, truth);
        let evidence = || (self.evidence)(walk);
        Some(layers.reporter.report(self.env, found, evidence))
    }
}

/// `truth`, which withdraws a mismatch if it is not certain which methods are compared.
pub fn unless_doubtful<'a, T: Truth>(truth: &'a T, methods: &'a Registry) -> impl Truth + 'a {
    Settled::own_answers(truth, |truth, walk| {
        let judged = truth.judge(walk);
        if judged.differs() {
            let references: Vec<_> = truth.stacks().into_iter().map(Stack::walked).collect();
            methods.settle(judged, walk, &references)
        } else {
            judged
        }
    })
}

/// No further evidence.
pub fn nothing_more(_: &[Frame]) -> Evidence {
    Evidence::default()
}
