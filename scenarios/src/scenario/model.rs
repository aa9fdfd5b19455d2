//! What a scenario says: programs, how to sample them, and what may go wrong.

use oracle::budget::Budget;
use oracle::record::{Config, Faults, Sabotage};
use oracle::{Hooking, LAYERS, Layer};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What to run and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Whether `cargo test` runs it.
    pub cargo_test: bool,
    /// The highest mismatch rates allowed.
    pub budget: Budget,
    /// The highest rate of imprecise stacks, in the layers for which the file says it.
    pub imprecise_budget: Budget,
    /// Layers without which the outcome says too little.
    pub required: Vec<Layer>,
    /// The programs, in order.
    pub programs: Vec<Program>,
    /// No further program starts after this time.
    pub time_budget: Option<Duration>,
}

/// One program of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Its name in reports.
    pub name: String,
    /// What is started.
    pub start: Start,
    /// Options for the JVM.
    pub jvm_args: Vec<String>,
    /// Whether its classes are rewritten, and how.
    pub hooks: Hooking,
    /// After this time it is ended and counts as hung; `None`: never.
    pub deadline: Option<Duration>,
    /// Whether it has our input and output, as a user's program has.
    pub foreground: bool,
    /// Files that it finds in the folder where it runs, by name.
    pub files: BTreeMap<String, String>,
    /// Files that must be on the machine.
    pub needs: Vec<PathBuf>,
    /// How to get them.
    pub install: Option<String>,
    /// The oldest feature release of a JDK that can run it.
    pub oldest_jdk: Option<u32>,
    /// Whether its work is done without the agent too, to tell how much slower it was.
    pub baseline: bool,
    /// How to sample it.
    pub sampling: Sampling,
    /// In which variants it runs.
    pub matrix: Matrix,
    /// The layers to report, of those that it measures.
    pub layers: Vec<Layer>,
}

/// What is started.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// Our fixtures.
    Fixtures {
        /// Their names; empty: all that run by default.
        names: Vec<String>,
        /// How long all of them together run.
        seconds: f64,
    },
    /// The JDK's own compiler over generated sources.
    Javac {
        /// How long it goes on.
        seconds: f64,
    },
    /// These arguments of `java`.
    Java(Vec<String>),
    /// Each benchmark of a suite, in a JVM of its own.
    Suite(Suite),
}

/// A suite of benchmarks in one jar.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Whose command line its jar speaks.
    pub kind: SuiteKind,
    /// The jar.
    pub jar: Option<PathBuf>,
    /// The benchmarks; empty: all that the jar lists.
    pub benchmarks: Vec<String>,
    /// How often each is repeated in its JVM.
    pub repetitions: u32,
}

/// Suites whose command line we know.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SuiteKind {
    /// Renaissance.
    Renaissance,
    /// DaCapo.
    Dacapo,
}

/// In which variants programs run: every JDK with every value of every axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// Homes of JDKs; `installed`: all in the platform's usual place.
    pub jdks: Vec<String>,
    /// Axes by name, and their values: options for the JVM by the value's name.
    pub axes: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// How often each variant runs.
    pub repetitions: u32,
}

/// How to sample and what to write down.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// Average pause between two samples, in microseconds.
    pub interval_us: u64,
    /// Every so many samples one is followed by a GetStackTrace, and a thread may be suspended.
    pub gst_every: u32,
    /// Share of a thread's time that checks may take.
    pub check_share: f64,
    /// Probability with which a method is hooked.
    pub probability: f64,
    /// How many mismatches of each layer, verdict and cause are kept, with their evidence.
    pub evidence_limit: u32,
    /// Patterns of methods to hook; empty: all.
    pub include: Vec<String>,
    /// Patterns of methods to leave alone.
    pub exclude: Vec<String>,
    /// Patterns of methods that make a check at each of their calls.
    pub check: Vec<String>,
    /// Breaks the hooks on purpose.
    pub sabotage: Option<Sabotage>,
    /// One hook in so many is broken.
    pub sabotage_one_in: u64,
    /// Faults that take the place of what the walkers say.
    pub faults: Option<Faults>,
    /// So many samples of each kind are written down whole.
    pub record_samples: u32,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling {
            interval_us: 200,
            gst_every: 16,
            check_share: 0.1,
            probability: 1.0,
            evidence_limit: 50,
            include: vec![],
            exclude: vec![],
            check: vec![],
            sabotage: None,
            sabotage_one_in: 10,
            faults: None,
            record_samples: 0,
        }
    }
}

impl Sampling {
    /// What the agent is told.
    pub(crate) fn config(
        &self,
        run_dir: &Path,
        trace_class: &Path,
        seed: u64,
        hooks: Hooking,
        edges: bool,
    ) -> Config {
        Config {
            run_dir: run_dir.into(),
            trace_class: trace_class.into(),
            seed,
            hooks,
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            check: self.check.clone(),
            probability: self.probability,
            check_share: self.check_share,
            sample_interval_us: self.interval_us,
            gst_every: self.gst_every,
            edges,
            evidence_limit: self.evidence_limit,
            sabotage: self.sabotage,
            sabotage_one_in: self.sabotage_one_in,
            turns: None,
            faults: self.faults.clone(),
            record_samples: self.record_samples,
        }
    }
}

impl Program {
    /// A program of these arguments of `java`, with everything else as usual.
    pub fn new(name: &str, start: Start) -> Program {
        Program {
            name: name.into(),
            start,
            jvm_args: vec![],
            hooks: Hooking::default(),
            deadline: None,
            foreground: false,
            files: BTreeMap::new(),
            needs: vec![],
            install: None,
            oldest_jdk: None,
            baseline: false,
            sampling: Sampling::default(),
            matrix: Matrix::default(),
            layers: Layer::ALL.into(),
        }
    }

    /// The layers that it measures and that are asked for.
    pub fn layers(&self) -> Vec<Layer> {
        let hooked = self.hooks.is_on();
        let is_measured = |layer: &Layer| layer.row().program.is_for(hooked);
        let asked = Layer::ALL.into_iter().filter(is_measured);
        asked.filter(|layer| self.layers.contains(layer)).collect()
    }
}

impl Scenario {
    /// The layers that its programs measure.
    pub fn measured(&self) -> Vec<Layer> {
        let mut measured: Vec<Layer> = self.programs.iter().flat_map(Program::layers).collect();
        measured.sort();
        measured.dedup();
        measured
    }

    /// The highest rate of imprecise stacks in each layer: by the file, else by the table of layers
    /// and by whether a program has light hooks.
    pub fn imprecise_limits(&self) -> Budget {
        let is_light = self.programs.iter().any(|p| p.hooks == Hooking::Light);
        let usual = LAYERS.iter().map(|row| {
            let limit = if is_light {
                row.imprecise_light
            } else {
                row.imprecise
            };
            (row.layer, limit)
        });
        Budget(usual.chain(self.imprecise_budget.0.clone()).collect())
    }

    /// The program of `run -- JAVA_ARGS`: any program, with our standard streams.
    pub fn of_user(args: Vec<String>, deadline: Option<Duration>) -> Scenario {
        Scenario {
            name: "program".into(),
            cargo_test: false,
            budget: default_budget(),
            imprecise_budget: Budget::default(),
            required: vec![],
            programs: vec![Program {
                foreground: true,
                deadline,
                ..Program::new("program", Start::Java(args))
            }],
            time_budget: None,
        }
    }

    /// One scenario of several: all their programs, each layer's tightest budget.
    pub fn join(scenarios: Vec<Scenario>) -> Scenario {
        let mut all = scenarios.into_iter();
        let first = all.next().expect("there is at least one scenario");
        all.fold(first, |mut sum, next| {
            sum.name = format!("{}+{}", sum.name, next.name);
            sum.budget.tighten(next.budget);
            sum.imprecise_budget.tighten(next.imprecise_budget);
            sum.required.extend(next.required);
            sum.required.sort();
            sum.required.dedup();
            sum.programs.extend(next.programs);
            sum.time_budget = sum.time_budget.zip(next.time_budget).map(|(a, b)| a + b);
            sum
        })
    }
}

/// The budgets of the table of layers.
pub(super) fn default_budget() -> Budget {
    Budget(LAYERS.iter().map(|row| (row.layer, row.budget)).collect())
}
