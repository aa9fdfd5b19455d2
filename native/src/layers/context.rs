//! What all layers work with.

use crate::edges::EdgeJudge;
use crate::evidence::{self, Reporter};
use crate::injection::hook_faults;
use crate::injection::walker_faults::Injector;
use crate::locks::lock;
use crate::recorder::Recorder;
use crate::records::Records;
use crate::records::error_codes::ErrorKey;
use crate::records::instants::Answer;
use crate::records::places::Named;
use crate::sampling::allocations::Allocations;
use crate::sampling::sample::Sample;
use crate::self_test::SelfTest;
use crate::truth::context::Truth;
use crate::walkers::Walkers;
use crate::walkers::turn_order::TurnOrder;
use hotspot::walkers::Walker;
use oracle::record::{Config, Record, Rewriting};
use oracle::{Layer, When};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

/// What layers ask, know and write. Made at the agent's start; most of it does not change.
pub struct Layers {
    /// The run's configuration, as the runner wrote it.
    pub config: &'static Config,
    /// Trace stacks, methods, class files and virtual threads: all that the truths are made of.
    pub truth: &'static Truth,
    /// The files of the run: counts, mismatches and other records.
    pub records: &'static Records,
    /// The walkers that this JVM has.
    pub walkers: &'static Walkers,
    /// The layers of checks in hooks that compare a walker with GetStackTrace.
    pub in_checks: TurnOrder,
    /// The layers of JVMTI events.
    pub in_events: TurnOrder,
    /// How many allocations the VM reports, where it does.
    pub allocations: Allocations,
    /// Faults for tests of ourselves.
    pub injector: Injector,
    /// Whether the agent reads the VM's stacks as they are.
    pub self_test: SelfTest,
    /// What is written down of mismatches.
    pub reporter: Reporter,
    /// Samples for tests, where they are asked for.
    pub recorder: Option<Recorder>,
    /// From the live phase on, where class files are kept.
    edges: OnceLock<EdgeJudge>,
}

impl Layers {
    /// As `config` asks for.
    pub fn new(
        config: &'static Config,
        truth: &'static Truth,
        records: &'static Records,
        walkers: &'static Walkers,
    ) -> Result<Layers, String> {
        let recorder = match config.sampling.record_samples {
            0 => None,
            limit => Some(
                Recorder::open(&config.run_dir, limit)
                    .map_err(|e| format!("cannot write samples: {e}"))?,
            ),
        };
        hook_faults::configure(
            config.sampling.hook_fault,
            config.sampling.hook_fault_one_in,
        );
        Ok(Layers {
            config,
            truth,
            records,
            walkers,
            in_checks: TurnOrder::here(config, When::Check),
            in_events: TurnOrder::here(config, When::Event),
            allocations: Allocations::new(truth.jvm.jvmti),
            injector: Injector::new(
                truth,
                config.sampling.faults.clone(),
                config.sampling.biased.clone(),
                config.seed,
            ),
            self_test: SelfTest::default(),
            reporter: Reporter::new(truth, records, config),
            recorder,
            edges: OnceLock::new(),
        })
    }

    /// From now on class files judge, where they are kept. In the live phase.
    pub fn let_class_files_judge(&self) {
        if let Some(judge) = EdgeJudge::new(self.truth) {
            _ = self.edges.set(judge);
        }
    }

    /// The judge by class files, where they are kept.
    pub fn edge_judge(&self) -> Option<&EdgeJudge> {
        self.edges.get()
    }

    /// Counts an error code that the layer's walker gave for `sample`, with the thread's state and the code that ran.
    pub fn note_error(&self, layer: Layer, code: i32, sample: &Sample) {
        let jvm = self.truth.jvm;
        let key = ErrorKey {
            layer,
            code,
            state: sample.state_name(),
            intact: Walker::of(layer).is_some_and(|walker| walker.refuses(code))
                && evidence::is_intact(jvm, sample),
        };
        lock(&self.records.errors).add(key, &self.place(sample).name);
    }

    /// Counts what the layer's walker answered for `sample`, by the thread's state and the code that ran. Steps see each instruction
    /// once, and are counted by instruction.
    pub fn note_answer(&self, layer: Layer, sample: &Sample, answer: Answer<'_>) {
        if layer.row().when != When::Step {
            let at = format!("{}, {}", sample.state_name(), self.place(sample).instant);
            lock(&self.records.instants).add(layer, &at, answer);
        }
    }

    /// The kind of code that ran at a sample.
    fn place(&self, sample: &Sample) -> Named {
        let find = |pc| evidence::kind_at(self.truth.jvm, pc);
        lock(&self.records.places).name(sample.at.registers.pc, find)
    }

    /// Writes down what the rewriter did so far, which mismatches were seen, and what came of injected
    /// faults.
    pub fn write_counts(&self) {
        self.reporter.write_counts();
        let (methods_altered, altered_examples) = self.truth.methods.altered.seen();
        let hooks = &self.truth.hook_counts;
        self.records.write(&Record::Rewriting(Rewriting {
            hooks_native: hooks.native.load(Relaxed),
            hooks_in_java: hooks.in_java.load(Relaxed),
            methods_altered,
            altered_examples,
            ..self.truth.rewriting().clone()
        }));
        let mut faults = self.injector.fault_log.counts();
        faults.extend(hook_faults::unsettled());
        if !faults.is_empty() {
            self.records.write(&Record::Faults(faults));
        }
    }
}
