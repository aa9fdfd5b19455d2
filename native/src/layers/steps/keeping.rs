//! Lets threads step, and keeps where they were, on a thread of the agent.

use super::visited::Visited;
use crate::jvm::os::{clock, trap};
use crate::jvm::symbols;
use crate::layers::context::Layers;
use crate::sampling::stepping::counts::COUNTS;
use crate::sampling::stepping::handler;
use crate::sampling::stepping::instant::AtInstant;
use crate::sampling::stepping::thread::{Stepper, Vm};
use crate::sampling::stepping::visits::{Visit, visits};
use hotspot::arch::{Follow, Native, NotKnown};
use hotspot::layout::fields::Missing;
use oracle::Layer;
use oracle::record::{Record, StepCounts, VISITED_FILE};
use std::collections::BTreeMap;
use std::time::{Duration, Instant as Time};
use vm::ring::Reader;

/// The interval in which counts are written.
const BOOKKEEPING: Duration = Duration::from_secs(5);

/// What steps have shown so far.
pub struct Keeping {
    layers: &'static Layers,
    visits: Reader<Visit>,
    /// The instructions that were visited.
    pub visited: Visited,
    /// How many different pairs of a stack and an answer were judged.
    pub judged: u64,
    /// Where the walker has crashed, and at how many different pairs of stack and answer.
    crashes: BTreeMap<String, u64>,
    booked: Time,
}

impl Keeping {
    /// Lets threads step from now on, and do what `at_instant` says. In the live phase.
    pub fn begin(
        layers: &'static Layers,
        at_instant: Box<dyn AtInstant>,
    ) -> Result<Keeping, String> {
        let jvm = layers.truth.jvm;
        let lost = |missing: &Missing| format!("this VM's code cannot be read: {missing}");
        let interpreter = jvm.interpreter().map_err(lost)?;
        jvm.step_facts.as_ref().map_err(lost)?;
        let cache = jvm.code_cache().map_err(lost)?;
        let unknown = |unknown: NotKnown| format!("threads cannot step: {unknown}");
        trap::is_possible().and(Native::FOLLOWS).map_err(unknown)?;
        // From here on the handler knows where the code cache is.
        cache.learn();
        let (writer, visits) = visits();
        let stepper = Stepper::new(Vm { jvm, interpreter }, at_instant, writer);
        handler::install(stepper).map_err(cannot_step)?;
        Ok(Keeping {
            layers,
            visits,
            visited: Visited::default(),
            judged: 0,
            crashes: BTreeMap::new(),
            booked: Time::now(),
        })
    }

    /// The walker has crashed at `pc`.
    pub fn crashed(&mut self, pc: usize) {
        *self.crashes.entry(symbols::place(pc)).or_default() += 1;
    }

    /// Notes what threads did since the last call, and stops them when their time is over.
    pub fn go_on(&mut self) {
        self.note();
        let limit = self.layers.config.sampling.step_seconds;
        let limit = limit.map(|seconds| u64::from(seconds) * 1_000_000_000);
        if limit.is_some_and(|limit| clock::since_start() > limit) {
            handler::stop();
        }
        if self.booked.elapsed() >= BOOKKEEPING {
            self.write_counts();
            self.booked = Time::now();
        }
    }

    /// No thread steps any more: writes what is left.
    pub fn end(&mut self) {
        self.note();
        self.write_counts();
        let path = self.layers.config.run_dir.join(VISITED_FILE);
        if let Err(error) = self.visited.write(&path) {
            let reason = format!("the visited code cannot be written: {error}");
            self.layers.records.invalid(reason);
        }
    }

    fn note(&mut self) {
        let (jvm, visited) = (self.layers.truth.jvm, &mut self.visited);
        while self
            .visits
            .next(|visit| visited.note(jvm, *visit))
            .is_some()
        {}
    }

    fn write_counts(&self) {
        let counts = StepCounts {
            judged: self.judged,
            instructions: self.visited.counts(),
            kinds: self.visited.kinds(),
            crashes: self.crashes.clone(),
            ..COUNTS.read()
        };
        self.layers.records.write(&Record::Steps(counts));
    }
}

/// The layer whose walker is asked: one in a run, because a thread has one answer at each step.
pub fn layer_of(asked: &[Layer]) -> Result<Layer, String> {
    let mut found = Layer::of_steps().filter(|layer| asked.contains(layer));
    match (found.next(), found.next()) {
        (Some(one), Some(other)) => Err(format!(
            "one walker is asked at each step: give layers {one} and {other} runs of their own, by an axis"
        )),
        (Some(one), None) => Ok(one),
        // Threads step for the check of the truth alone, and the first walker is asked.
        (None, _) => Ok(Layer::of_steps().next().expect("there are layers of steps")),
    }
}

/// The reason that threads do not step.
pub fn cannot_step(error: std::io::Error) -> String {
    format!("threads cannot step: {error}")
}
