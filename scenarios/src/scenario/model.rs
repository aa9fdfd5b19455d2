//! The model of a scenario: programs, how to sample them, and how many mismatches are allowed.

use super::profiler::Profiler;
use super::variation::Variation;
use oracle::budget::Budget;
use oracle::record::{Config, Sampling, StatementBudget, WalkerFunction};
use oracle::{Hooking, LAYERS, Layer, RecordedSampler, TruthKind, When};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Whether `cargo test` runs it.
    pub cargo_test: bool,
    /// The highest mismatch rates allowed.
    pub budget: Budget,
    /// The highest rates of imprecise stacks, in the layers for which the file gives a rate.
    pub imprecise_budget: Budget,
    /// Of how many of its samples a sampler of the JVM may say that they are worth less. Without limits nothing is judged.
    pub statement_budget: StatementBudget,
    /// Layers that must have checks. Without them the outcome says too little.
    pub required: Vec<Layer>,
    /// The programs, in order.
    pub programs: Vec<Program>,
    /// Further programs that run in the turns of `stackwitness check` alone: no stored baseline has them.
    pub check_only: Vec<Program>,
    /// No further program starts after this time.
    pub time_budget: Option<Duration>,
    /// SHA-256 of the scenario's text, in hexadecimal digits, if it has a text.
    pub sha256: Option<String>,
}

/// One program of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Its name in reports.
    pub name: String,
    /// What the JVM runs.
    pub start: Start,
    /// Options for the JVM.
    pub jvm_args: Vec<String>,
    /// Whether the program's classes are rewritten, and how.
    pub hooks: Hooking,
    /// After this time the program is ended and counts as hung; `None`: never.
    pub deadline: Option<Duration>,
    /// Whether the program has the terminal's input and output, as a user's program has.
    pub foreground: bool,
    /// Files, by name, that are written to the program's folder.
    pub files: BTreeMap<String, String>,
    /// Files that must be on the machine.
    pub needs: Vec<PathBuf>,
    /// How to install these files.
    pub install: Option<String>,
    /// The oldest feature release of a JDK that can run the program.
    pub oldest_jdk: Option<u32>,
    /// The newest feature release that runs the program; `None`: none is too new.
    pub newest_jdk: Option<u32>,
    /// Whether the work is repeated without the agent, to measure the slowdown.
    pub baseline: bool,
    /// The profiler whose samples are judged.
    pub profiler: Option<Profiler>,
    /// Further options for it.
    pub profiler_options: Vec<String>,
    /// The function that is asked in place of a walker.
    pub walker: Option<WalkerFunction>,
    /// How to sample the program.
    pub sampling: Sampling,
    /// The variants in which the program runs.
    pub matrix: Matrix,
    /// The layers to report, if the program measures them.
    pub layers: Vec<Layer>,
}

/// What a JVM runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// The fixtures.
    Fixtures {
        /// Names of fixtures; empty: all fixtures that run by default.
        names: Vec<String>,
        /// How long all fixtures together run, in seconds.
        seconds: f64,
    },
    /// The JDK's own compiler over generated sources.
    Javac {
        /// How long the compiler runs, in seconds.
        seconds: f64,
    },
    /// Any program, by these arguments of `java`.
    Java(Vec<String>),
    /// Each benchmark of a suite, in a JVM of its own.
    Suite(Suite),
}

/// A suite of benchmarks in one jar.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// The kind of the suite, which decides the command line.
    pub kind: SuiteKind,
    /// The jar.
    pub jar: Option<PathBuf>,
    /// The benchmarks; empty: all that the jar lists.
    pub benchmarks: Vec<String>,
    /// How often a benchmark is repeated in its JVM.
    pub repetitions: u32,
}

/// Suites whose command line is known.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SuiteKind {
    /// Renaissance.
    Renaissance,
    /// DaCapo.
    Dacapo,
}

/// The variants in which programs run: every JDK with every value of every axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// Homes of JDKs; `installed` stands for all JDKs in the platform's usual place.
    pub jdks: Vec<String>,
    /// Axes by name. An axis has values by name.
    pub axes: BTreeMap<String, BTreeMap<String, Variation>>,
    /// How often each variant runs.
    pub repetitions: u32,
}

/// Whether the layers of this instant make their checks on the program's own threads, where no class is rewritten.
fn is_without_samples(when: When) -> bool {
    matches!(when, When::Event | When::Step)
}

impl Program {
    /// Its first layer that judges a profiler.
    pub fn profiler_layer(&self) -> Option<Layer> {
        let mut layers = self.layers.iter().copied();
        layers.find(|layer| layer.is_of(RecordedSampler::Profiler))
    }

    /// A program with these arguments of `java` and the usual settings.
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
            newest_jdk: None,
            baseline: false,
            profiler: None,
            profiler_options: vec![],
            walker: None,
            sampling: Sampling::default(),
            matrix: Matrix::default(),
            layers: Layer::usual(),
        }
    }

    /// Why the program does not run on JDKs of this feature release; `None` if it does.
    pub(crate) fn is_not_for(&self, feature: u32) -> Option<String> {
        if let Some(oldest) = self.oldest_jdk.filter(|&oldest| feature < oldest) {
            return Some(format!("this program needs JDK {oldest} or later"));
        }
        let newest = self.newest_jdk.filter(|&newest| feature > newest)?;
        Some(format!("this program is for JDK {newest} and earlier"))
    }

    /// Judges these layers in place of its own, and lets threads run instruction by instruction if a layer needs it.
    pub fn judge(&mut self, layers: &[Layer]) {
        self.layers = layers.to_vec();
        self.sampling.steps |= layers.iter().any(|layer| layer.row().when == When::Step);
    }

    /// Changes the program by a value of an axis.
    pub(crate) fn vary(&mut self, by: &Variation) {
        self.jvm_args.extend(by.options.iter().cloned());
        if let Some(layers) = &by.layers {
            self.layers.retain(|layer| layers.contains(layer));
        }
        let pause = &mut self.sampling.interval_us;
        *pause = by.interval_us.unwrap_or(*pause);
        self.sampling.altered = by.altered.or(self.sampling.altered);
        self.hooks = by.hooks.unwrap_or(self.hooks);
        self.profiler_options.extend(by.profiler.clone());
    }

    /// Lets `profiler` sample the program, if a layer judges it.
    pub fn sample_with(&mut self, profiler: &Profiler) {
        let mut layers = self.layers.iter();
        if layers.any(|layer| layer.is_of(RecordedSampler::Profiler)) {
            self.profiler = Some(profiler.clone().with(&self.profiler_options));
        }
    }

    /// The ways in which the program's classes are rewritten: its own, unless each value of an axis has another.
    fn all_hooks(&self) -> BTreeSet<Hooking> {
        let axes = self.matrix.axes.values();
        let decides =
            |values: &BTreeMap<_, Variation>| values.values().all(|by| by.hooks.is_some());
        let own = (!axes.clone().any(decides)).then_some(self.hooks);
        let of_axes = axes.flat_map(BTreeMap::values);
        of_axes.filter_map(|by| by.hooks).chain(own).collect()
    }

    /// Lets the classes be rewritten in this way, whatever the axes say.
    pub fn hook(&mut self, hooks: Hooking) {
        self.hooks = hooks;
        let values = self.matrix.axes.values_mut().flat_map(BTreeMap::values_mut);
        values.for_each(|by| by.hooks = None);
    }

    /// The agent's configuration for a run of the program: its sampling, and what its layers need.
    pub(crate) fn config(&self, run_dir: &Path, trace_class: &Path, seed: u64) -> Config {
        let hooked = self.hooks.is_on();
        // Without hooks, kept class files bring samples of their own.
        let needs_classes = |layer: &Layer| {
            if hooked {
                layer.uses(TruthKind::Classes)
            } else {
                layer.rests_on(TruthKind::Classes)
            }
        };
        let layers = self.layers();
        let asks = |when| layers.iter().any(|layer| layer.row().when == when);
        let (events, steps) = (asks(When::Event), asks(When::Step));
        let mut without_samples = layers
            .iter()
            .map(|layer| is_without_samples(layer.row().when));
        let mut sampling = self.sampling.clone();
        sampling.native_calls &= events || steps;
        sampling.steps = steps;
        if !hooked && without_samples.all(|without| without) {
            sampling.gst_every = 0;
        }
        Config {
            run_dir: run_dir.into(),
            trace_class: trace_class.into(),
            profiler: self
                .profiler
                .as_ref()
                .map(|profiler| profiler.library.clone()),
            walker: self.walker.clone(),
            seed,
            edges: self.layers.iter().any(needs_classes),
            events,
            layers,
            hooks: self.hooks,
            sampling,
            gst_twice: false,
            turns: None,
        }
    }

    /// The layers that the program measures and that the scenario asks for.
    pub fn layers(&self) -> Vec<Layer> {
        self.layers_with(self.hooks)
    }

    /// The layers that the program measures if its classes are rewritten in this way.
    fn layers_with(&self, hooks: Hooking) -> Vec<Layer> {
        let hooked = hooks.is_on();
        let is_measured = |layer: &Layer| {
            let row = layer.row();
            row.program.is_for(hooked) && (row.when != When::Step || self.sampling.steps)
        };
        let asked = Layer::ALL.into_iter().filter(is_measured);
        asked.filter(|layer| self.layers.contains(layer)).collect()
    }
}

impl Scenario {
    /// The layers that the scenario's programs measure.
    pub fn measured(&self) -> Vec<Layer> {
        measured(&self.programs)
    }

    /// All programs of a check.
    pub fn of_check(&self) -> impl Iterator<Item = &Program> {
        self.programs.iter().chain(&self.check_only)
    }

    /// The highest rate of imprecise stacks in each layer: by the file, else by the table of layers
    /// and by whether a program has light hooks.
    pub fn imprecise_limits(&self) -> Budget {
        let mut programs = self.programs.iter();
        let is_light = programs.any(|program| program.all_hooks().contains(&Hooking::Light));
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
}

/// The layers that programs measure.
pub(crate) fn measured<'a>(programs: impl IntoIterator<Item = &'a Program>) -> Vec<Layer> {
    let of_program = |program: &'a Program| {
        let ways = program.all_hooks().into_iter();
        ways.flat_map(|hooks| program.layers_with(hooks))
    };
    let measured: BTreeSet<Layer> = programs.into_iter().flat_map(of_program).collect();
    measured.into_iter().collect()
}

/// The default budgets of the table of layers.
pub(super) fn default_budget() -> Budget {
    Budget(LAYERS.iter().map(|row| (row.layer, row.budget)).collect())
}
