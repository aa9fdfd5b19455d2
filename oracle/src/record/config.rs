//! The agent's configuration.

use super::altered::Altering;
use super::faults::{Faults, HookFault};
use super::hooking::Hooking;
use super::lines::pace::Pace;
use crate::Layer;
use crate::mutants::Biased;
use serde::{Deserialize, Serialize};

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
    pub run_dir: std::path::PathBuf,
    /// The class file that holds the hooks' methods.
    pub trace_class: std::path::PathBuf,
    /// Seed of all random choices.
    pub seed: u64,
    /// The layers that the runner reports. Where several of them ask walkers at the same instants, they take
    /// turns.
    #[serde(default = "Layer::usual")]
    pub layers: Vec<Layer>,
    /// Whether classes are rewritten, and how.
    pub hooks: Hooking,
    /// Patterns of methods to hook, as `instrumenter` defines them; empty: all methods.
    #[serde(default)]
    pub include: Vec<String>,
    /// Patterns of methods to leave alone; they win over `include`.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Patterns of methods that make a check at each call, in addition to the checks that
    /// `check_share` allows.
    #[serde(default)]
    pub check: Vec<String>,
    /// Probability, from 0 to 1, with which a method that the patterns choose is hooked.
    pub probability: f64,
    /// Share of a thread's time, from 0 to 1, that its checks may take.
    pub check_share: f64,
    /// Average pause between two samples, in microseconds; 0: no pause.
    pub sample_interval_us: u64,
    /// One sample of this many is followed by a GetStackTrace for `asgct-gst`, and a thread may be
    /// suspended; 0: no sample.
    pub gst_every: u32,
    /// Share of the sampler's time, from 0 to 1, during which a thread may be suspended.
    #[serde(default = "tenth")]
    pub suspend_share: f64,
    /// Whether class files are kept to judge call edges: for layer `call-edge`, and as evidence in
    /// the other layers.
    #[serde(default)]
    pub edges: bool,
    /// Whether checks are made in events of JVMTI: layer `asgct-event`.
    #[serde(default)]
    pub events: bool,
    /// Whether layer `asgct-event` makes checks at calls of native methods, too.
    #[serde(default)]
    pub native_calls: bool,
    /// Whether threads run one instruction at a time: layers of [`When::Step`](crate::When::Step).
    #[serde(default)]
    pub steps: bool,
    /// For how many seconds from the VM's start threads run so; `None`: to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_seconds: Option<u32>,
    /// Layer `jfr-cpu-step` makes a request at one of so many instructions of generated code, at random.
    #[serde(default = "hundred", skip_serializing_if = "is_hundred")]
    pub request_one_in: u32,
    /// Whether the sampler makes the requests of layer `jfr-cpu` itself, in place of other samples.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chosen_instants: bool,
    /// Whether walkers are asked from altered contexts too, and how often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub altered: Option<Altering>,
    /// Developer option: layer `asgct-event` asks GetStackTrace in place of AsyncGetCallTrace. Every
    /// difference is a mistake of the layer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gst_twice: bool,
    /// How many mismatches of each layer, verdict and cause are kept, with their evidence: a uniform
    /// sample. All are counted.
    pub evidence_limit: u32,
    /// Developer option: a fault of the hooks, so that tests show whether the layers notice.
    #[serde(default, alias = "sabotage", skip_serializing_if = "Option::is_none")]
    pub hook_fault: Option<HookFault>,
    /// Developer option: one hook of this many is broken by `hook_fault`.
    #[serde(
        default = "ten",
        alias = "sabotage_one_in",
        skip_serializing_if = "is_ten"
    )]
    pub hook_fault_one_in: u64,
    /// Developer option: the pace that alternates with the sampler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Pace>,
    /// Developer option: faults that are injected into the answers of the walkers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<Faults>,
    /// Developer option: in layer `asgct-async` a walker that knows the truth has a profile in place of the JVM's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub biased: Option<Biased>,
    /// Developer option: this many samples of each kind are written to
    /// [`SAMPLES_FILE`](crate::recorded::SAMPLES_FILE).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub record_samples: u32,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

fn hundred() -> u32 {
    100
}

fn is_hundred(n: &u32) -> bool {
    *n == hundred()
}

fn tenth() -> f64 {
    0.1
}

fn ten() -> u64 {
    10
}

fn is_ten(n: &u64) -> bool {
    *n == ten()
}
