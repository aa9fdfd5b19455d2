//! What an agent writes down while a program runs.
//!
//! The agent appends one [`Record`] a line, as JSON, to a file of its run's folder, each
//! line with one write, so that a crash costs at most the line being written. Counts are
//! not in it but in the shared slots (see [`crate::tally`]).

use crate::cause::Cause;
use crate::lie::{LieKind, Outcome};
use crate::pace::{Pace, Paced};
use crate::profile::Profile;
use crate::{Hooking, Layer, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::str::FromStr;

/// Name of the file of records in a run's folder.
pub const RECORDS_FILE: &str = "records.jsonl";

/// Name of the file of slots in a run's folder.
pub const SLOTS_FILE: &str = "slots.bin";

/// What the runner tells the agent: a JSON file whose path is the agent's option string.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Folder for the records and the slots; it exists.
    pub run_dir: std::path::PathBuf,
    /// The class file that holds the hooks' methods.
    pub trace_class: std::path::PathBuf,
    /// Seed of all random choices.
    pub seed: u64,
    /// Whether classes are rewritten, and how; without, only `asgct-gst` and `call-edge` have
    /// checks.
    pub hooks: Hooking,
    /// Patterns of methods to hook, as `instrumenter` defines them; empty: all.
    #[serde(default)]
    pub include: Vec<String>,
    /// Patterns of methods to leave alone; they win over `include`.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Patterns of methods that make a check at each of their calls, besides the checks that
    /// `check_share` allows.
    #[serde(default)]
    pub check: Vec<String>,
    /// Probability, from 0 to 1, with which a method that the patterns choose is hooked.
    pub probability: f64,
    /// Share of a thread's time, from 0 to 1, that its checks may take.
    pub check_share: f64,
    /// Average pause between two samples, in microseconds; 0: no pause.
    pub sample_interval_us: u64,
    /// Every so many samples one is followed by a GetStackTrace for `asgct-gst`; 0: none.
    pub gst_every: u32,
    /// Whether class files are kept in mind to judge call edges by: layer `call-edge`, and
    /// evidence in the others.
    #[serde(default)]
    pub edges: bool,
    /// How many mismatches are written down per layer and verdict; all are counted.
    pub evidence_limit: u32,
    /// Developer option: breaks the agent on purpose, so that tests can see it caught.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sabotage: Option<Sabotage>,
    /// Developer option: one hook in so many is broken by `sabotage`.
    #[serde(default = "ten", skip_serializing_if = "is_ten")]
    pub sabotage_one_in: u64,
    /// Developer option: with what the sampler takes turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Pace>,
    /// Developer option: lies that take the place of what the walkers say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lies: Option<Lies>,
}

fn ten() -> u64 {
    10
}

fn is_ten(n: &u64) -> bool {
    *n == ten()
}

/// Ways to break the hooks on purpose.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sabotage {
    /// A `pop` does nothing.
    DropPops,
    /// A `pop` takes its caller's entry too.
    DoublePops,
    /// A `push` does nothing.
    DropPushes,
}

impl Sabotage {
    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Sabotage::DropPops => "drop-pops",
            Sabotage::DoublePops => "double-pops",
            Sabotage::DropPushes => "drop-pushes",
        }
    }
}

impl FromStr for Sabotage {
    type Err = String;

    fn from_str(name: &str) -> Result<Sabotage, String> {
        let known = [
            Sabotage::DropPops,
            Sabotage::DoublePops,
            Sabotage::DropPushes,
        ];
        let found = known.into_iter().find(|way| way.name() == name);
        found.ok_or_else(|| {
            let known = known.map(Sabotage::name).join(", ");
            format!("unknown sabotage `{name}`; known: {known}")
        })
    }
}

/// Which lies are told, where and how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lies {
    /// The layers; not `ground`, which has no walker.
    pub layers: Vec<Layer>,
    /// The kinds, one of them at random each time.
    pub kinds: Vec<LieKind>,
    /// One answer in so many is a lie.
    pub one_in: u64,
}

impl FromStr for Lies {
    type Err = String;

    /// Reads `KIND,…[:LAYER,…[:ONE_IN]]`, where `all` stands for all kinds or layers.
    fn from_str(text: &str) -> Result<Lies, String> {
        fn list<T: FromStr<Err = String> + Copy>(text: &str, all: &[T]) -> Result<Vec<T>, String> {
            match text {
                "all" => Ok(all.into()),
                _ => text.split(',').map(str::parse).collect(),
            }
        }
        let mut parts = text.splitn(3, ':');
        let mut part = |otherwise| parts.next().unwrap_or(otherwise);
        let kinds = list(part("all"), &LieKind::ALL)?;
        const LAYERS: [Layer; 5] = [
            Layer::Gst,
            Layer::AsgctSafepoint,
            Layer::AsgctAsync,
            Layer::AsgctGst,
            Layer::CallEdge,
        ];
        let layers = list(part("all"), &LAYERS)?;
        if let Some(layer) = layers.iter().find(|layer| !LAYERS.contains(layer)) {
            return Err(format!("nobody lies to `{layer}`"));
        }
        let one_in = part("1000").parse().ok().filter(|&n| n > 0);
        Ok(Lies {
            layers,
            kinds,
            one_in: one_in.ok_or("one in how many? a whole number above 0")?,
        })
    }
}

/// How often lies of one kind came to one end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LieCount {
    /// The layer that was lied to.
    pub layer: Layer,
    /// The lie: a [`LieKind`] or, in `ground`, a [`Sabotage`].
    pub kind: String,
    /// The verdict that was given.
    pub verdict: Verdict,
    /// Whether that is right; where it was not reported, why.
    pub outcome: Outcome,
    /// How often.
    pub count: u64,
}

/// What was found of the call edges of all stacks, by walker.
///
/// GetStackTrace walks at safepoints, where it is right: an edge of its stacks that is impossible
/// speaks against the judge.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct EdgeCounts {
    /// Of AsyncGetCallTrace in layer `call-edge`.
    pub asgct: FoundEdges,
    /// Of GetStackTrace in layer `asgct-gst`.
    pub gst: FoundEdges,
    /// CPU time that the sampler took to judge the stacks of `asgct`, in nanoseconds: from each
    /// walk as the handler left it to its verdict; not what writing evidence takes.
    #[serde(default)]
    pub judging_ns: u64,
}

impl EdgeCounts {
    /// Whether no stack was judged.
    pub fn is_empty(&self) -> bool {
        self.asgct.stacks == 0 && self.gst.stacks == 0
    }

    /// How many stacks of layer `call-edge` were judged per second of CPU time; none without
    /// such stacks.
    pub fn judged_per_cpu_s(&self) -> Option<f64> {
        let per_s = self.asgct.stacks as f64 * 1e9 / self.judging_ns as f64;
        Some(per_s).filter(|_| self.asgct.stacks > 0 && self.judging_ns > 0)
    }
}

/// What was found of the edges of one walker's stacks.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct FoundEdges {
    /// Stacks.
    pub stacks: u64,
    /// Edges, by finding and reason.
    pub edges: BTreeMap<String, u64>,
}

/// How often the walker gave one error in one kind of code.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// The layer.
    pub layer: Layer,
    /// The walker's code.
    pub code: i32,
    /// The VM's name for the thread's state.
    pub state: String,
    /// The kind of code that ran: `nmethod tier 4`, the name of a stub or of a library's file.
    pub place: String,
    /// How often.
    pub count: u64,
}

/// One line of the agent's records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    /// The agent was loaded and has all it needs.
    Started(Started),
    /// A truncated or wrong stack, with its evidence.
    Mismatch(Box<Mismatch>),
    /// Something that makes the whole run worthless: a panic of the agent, for instance.
    Invalid(String),
    /// What the rewriter did; the last one counts.
    Rewriting(Rewriting),
    /// What came of the lies that the agent was told to tell; the last one counts.
    Lies(Vec<LieCount>),
    /// In which code the sampler's walker gave errors; the last one counts.
    Errors(Vec<ErrorCount>),
    /// How fast the sampler was for a while, where that is measured.
    Paced(Paced),
    /// All stacks that the sampler's walker gave; the last one counts.
    Profile(Profile),
    /// What was found of call edges; the last one counts.
    Edges(EdgeCounts),
    /// The VM ended in an orderly way.
    Ended,
}

/// What the agent knows at its start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// `java.home` of the target.
    pub home: String,
    /// `java.vm.vendor`.
    pub vendor: String,
    /// `java.vm.version`.
    pub version: String,
    /// `java.vm.name`.
    pub vm: String,
    /// Whether AsyncGetCallTrace was found in the VM's library.
    pub asgct: bool,
}

/// What the rewriter did in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rewriting {
    /// Classes with at least one hooked method.
    pub classes_hooked: u64,
    /// Methods with hooks.
    pub methods_hooked: u64,
    /// Hooked methods that the agent knows: those of classes that are not unloaded.
    #[serde(default)]
    pub methods_known: u64,
    /// Hooked methods that it has forgotten, because their classes were unloaded.
    #[serde(default)]
    pub methods_forgotten: u64,
    /// Classes that were left alone as a whole, by reason.
    pub classes_left: BTreeMap<String, u64>,
    /// Methods that were left alone in classes that were read, by reason.
    pub methods_left: BTreeMap<String, u64>,
    /// Classes of the program itself, not of the JDK, that were prepared.
    pub application_classes: u64,
    /// Trace stacks set right after a StackOverflowError (or the like) in a hook.
    pub repairs: u64,
    /// Whether the sampler was still waiting for a safepoint when the VM ended.
    #[serde(default)]
    pub late_samplers: u64,
}

/// One frame, as reports show it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShownFrame {
    /// `package.Class.method(descriptor)`, or how the walker named it where unknown.
    pub method: String,
    /// The original BCI; -3 in a native frame; absent where the truth moves.
    pub bci: Option<i32>,
    /// The source line, where the class file has it.
    pub line: Option<u32>,
    /// The BCI in the rewritten code, where the method is hooked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewritten_bci: Option<i32>,
}

/// A truncated or wrong stack, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mismatch {
    /// The layer that found it.
    pub layer: Layer,
    /// `truncated` or `wrong`.
    pub verdict: Verdict,
    /// What was found, as a short phrase.
    pub reason: String,
    /// The thread, by its kernel id and, where known, its name.
    pub thread: String,
    /// What the walker returned, top frame first.
    pub walker: Vec<ShownFrame>,
    /// What was true, top frame first.
    pub truth: Vec<ShownFrame>,
    /// First differing frame, as an index into `walker`.
    pub at_frame: Option<usize>,
    /// The known cause that it points to, for walks of AsyncGetCallTrace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Further evidence by name: program counter, code blob, thread state and so on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub evidence: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lies_are_read() {
        let read = |text: &str| text.parse::<Lies>();
        let all = read("all").expect("it is right");
        assert_eq!((all.kinds.len(), all.layers.len()), (11, 5));
        assert_eq!(all.one_in, 1000);
        let some = Lies {
            layers: vec![Layer::Gst],
            kinds: vec![LieKind::Swap, LieKind::DropTop],
            one_in: 5,
        };
        assert_eq!(read("swap,drop-top:gst:5"), Ok(some));
        for wrong in ["", "x", "swap:ground", "swap:gst:0", "swap:gst:5:6"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn records_are_one_line_and_come_back() {
        let mismatch = Mismatch {
            layer: Layer::AsgctAsync,
            verdict: Verdict::Truncated,
            reason: "the bottom\nis missing".into(),
            thread: "main".into(),
            walker: vec![ShownFrame {
                method: "A.b()V".into(),
                bci: Some(3),
                ..Default::default()
            }],
            truth: vec![],
            at_frame: Some(1),
            cause: Some(Cause::LeafCall),
            evidence: BTreeMap::from([("pc".into(), "0x12".into())]),
        };
        for record in [
            Record::Mismatch(Box::new(mismatch)),
            Record::Started(Started::default()),
            Record::Rewriting(Rewriting::default()),
            Record::Invalid("x".into()),
            Record::Lies(vec![LieCount {
                layer: Layer::Gst,
                kind: LieKind::Swap.to_string(),
                verdict: Verdict::Error(-2),
                outcome: Outcome::Explained(crate::lie::Unseen::Moves),
                count: 3,
            }]),
            Record::Errors(vec![ErrorCount {
                layer: Layer::AsgctAsync,
                code: -5,
                state: "in Java".into(),
                place: "nmethod tier 4".into(),
                count: 7,
            }]),
            Record::Profile(Profile::new(&["A.b()V".into()], [(vec![0], 2)], 9, 1)),
            Record::Ended,
        ] {
            let line = serde_json::to_string(&record).expect("records are plain data");
            assert!(!line.contains('\n'));
            let back: Record = serde_json::from_str(&line).expect("it was written by us");
            assert_eq!(back, record);
        }
    }
}
