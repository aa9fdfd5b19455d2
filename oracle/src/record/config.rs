//! The agent's configuration.

use super::altered::Altering;
use super::faults::{Faults, HookFault};
use super::hooking::Hooking;
use super::lines::pace::Pace;
use super::walker_function::WalkerFunction;
use crate::Layer;
use crate::mutants::Biased;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Name of the file of records in a run's folder.
pub const RECORDS_FILE: &str = "records.jsonl";

/// Name of the file with which a JVM claims a run. The file holds the JVM's process id.
pub const CLAIM_FILE: &str = "jvm.pid";

/// Name of the file of slots in a run's folder.
pub const SLOTS_FILE: &str = "slots.bin";

/// The agent's configuration: a JSON file. The path of the file is the agent's option string.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Folder for the records and the slots; it exists.
    pub run_dir: PathBuf,
    /// The class file that holds the hooks' methods.
    pub trace_class: PathBuf,
    /// Seed of all random choices.
    pub seed: u64,
    /// The layers that the runner reports. Where several of them ask walkers at the same instants, they take
    /// turns.
    #[serde(default = "Layer::usual")]
    pub layers: Vec<Layer>,
    /// Whether classes are rewritten, and how.
    pub hooks: Hooking,
    /// Whether class files are kept to judge call edges: for layer `call-edge`, and as evidence in
    /// the other layers.
    #[serde(default)]
    pub edges: bool,
    /// Whether checks are made in events of JVMTI: layer `asgct-event`.
    #[serde(default)]
    pub events: bool,
    /// How the run's threads are sampled.
    #[serde(default)]
    pub sampling: Sampling,
    /// The library of the profiler whose signals are watched.
    #[serde(default)]
    pub profiler: Option<std::path::PathBuf>,
    /// The function that is asked in place of the walker of its signature.
    #[serde(default)]
    pub walker: Option<WalkerFunction>,
    /// Developer option: layer `asgct-event` asks GetStackTrace in place of AsyncGetCallTrace. Every
    /// difference is a mistake of the layer.
    #[serde(default)]
    pub gst_twice: bool,
    /// Developer option: the pace that alternates with the sampler.
    #[serde(default)]
    pub turns: Option<Pace>,
}

/// How to sample a program, and how much evidence to keep. A scenario sets this, and the agent follows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sampling {
    /// Average pause between two samples, in microseconds; 0: no pause.
    pub interval_us: u64,
    /// One sample of this many is followed by a GetStackTrace for `asgct-gst`, and a thread may be
    /// suspended; 0: no sample.
    pub gst_every: u32,
    /// Share of the sampler's time, from 0 to 1, during which a thread may be suspended.
    pub suspend_share: f64,
    /// Share of a thread's time, from 0 to 1, that its checks may take.
    pub check_share: f64,
    /// Probability, from 0 to 1, with which a method that the patterns choose is hooked.
    pub probability: f64,
    /// How many mismatches of each layer, verdict and cause are kept, with their evidence: a uniform
    /// sample. All are counted.
    pub evidence_limit: u32,
    /// Patterns of methods to hook, as `instrumenter` defines them; empty: all methods.
    pub include: Vec<String>,
    /// Patterns of methods to leave alone; they win over `include`.
    pub exclude: Vec<String>,
    /// Patterns of methods that make a check at each call, in addition to the checks that
    /// `check_share` allows.
    pub check: Vec<String>,
    /// Whether checks are made at calls of native methods, where events make checks.
    pub native_calls: bool,
    /// Whether threads run one instruction at a time, where no class is rewritten: layers of
    /// [`When::Step`](crate::When::Step).
    pub steps: bool,
    /// For how many seconds from the VM's start threads run so; `None`: to the end.
    pub step_seconds: Option<u32>,
    /// At one of so many steps in generated code, at random, a walker is asked whose answers are in a recording.
    pub request_one_in: u32,
    /// Whether the sampler makes the requests of layer `jfr-cpu` or `profiler` itself, in place of other samples.
    pub chosen_instants: bool,
    /// Whether walkers are asked from altered contexts too, and how often.
    pub altered: Option<Altering>,
    /// Developer option: a fault of the hooks, so that tests show whether the layers notice.
    pub hook_fault: Option<HookFault>,
    /// Developer option: one hook of this many is broken by `hook_fault`.
    pub hook_fault_one_in: u64,
    /// Developer option: faults that are injected into the answers of the walkers.
    pub faults: Option<Faults>,
    /// Developer option: where samples are compared with the trace stack, a walker that knows the truth has a profile in
    /// place of the JVM's, biased on purpose.
    pub biased: Option<Biased>,
    /// Developer option: this many samples of each kind are written to
    /// [`SAMPLES_FILE`](crate::recorded::SAMPLES_FILE).
    pub record_samples: u32,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling {
            interval_us: 200,
            gst_every: 16,
            suspend_share: 0.1,
            check_share: 0.1,
            probability: 1.0,
            evidence_limit: 50,
            include: vec![],
            exclude: vec![],
            check: vec![],
            native_calls: true,
            steps: false,
            step_seconds: None,
            request_one_in: 100,
            chosen_instants: false,
            altered: None,
            hook_fault: None,
            hook_fault_one_in: 10,
            faults: None,
            biased: None,
            record_samples: 0,
        }
    }
}

impl Config {
    /// Whether the samples of a profiler are judged.
    pub fn has_profiler(&self) -> bool {
        self.profiler.is_some()
    }
}
