//! What threads did that ran one instruction at a time.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name of the file, in a run's folder, with a line of JSON for each piece of code that was visited: a
/// [`VisitedCode`].
pub const VISITED_FILE: &str = "visited.jsonl";

/// The steps of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepCounts {
    /// Instructions that were run one at a time, inside and outside of the code cache.
    pub steps: u64,
    /// Of these the instants in the code cache at which the walker was asked.
    pub instants: u64,
    /// Of the instants those that could not be judged, because too many others were waiting.
    pub unjudged: u64,
    /// Different pairs of a stack and an answer.
    pub judged: u64,
    /// Different instructions that were visited, by the VM's name for their code.
    pub instructions: BTreeMap<String, InstructionCounts>,
    /// Of these the instructions of compiled methods before their stubs, by kind, such as `ret`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, InstructionCounts>,
    /// Where the walker has crashed, as `file+offset`, and at how many different pairs of a stack and an answer.
    /// The run goes on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub crashes: BTreeMap<String, u64>,
    /// How often a thread ran on freely, by reason.
    pub ends: BTreeMap<String, u64>,
    /// The time from the first step to the last, in nanoseconds.
    pub nanos: u64,
}

/// Different instructions, by what the walker answered there at the worst instant.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct InstructionCounts {
    /// All that were visited.
    pub all: u64,
    /// Those at which at least one answer was false or cut.
    pub mismatch: u64,
    /// Of the rest, those with an error instead of a stack.
    pub error: u64,
    /// Of the rest, those with an imprecise answer.
    pub imprecise: u64,
    /// Of the rest, those with an answer that says that inlined frames may be missing.
    #[serde(default)]
    pub flagged: u64,
    /// Of the rest, those at which nothing could be judged.
    pub unverifiable: u64,
    /// Of compiled methods: how much of their code was visited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// The same of those methods alone that a thread has run step by step from their call to their return.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Coverage>,
}

/// How much of compiled methods was visited, before their stubs. Padding, and what stands behind calls that do
/// not return, does not count.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// The methods of which at least one instruction was visited.
    #[serde(default)]
    pub methods: u64,
    /// All their instructions.
    pub instructions: u64,
    /// Of these the instructions that were visited.
    pub visited: u64,
    /// Of the rest, those behind branches that no thread has taken.
    #[serde(default)]
    pub behind_branches: u64,
    /// Of the rest, those that should have been visited: they follow a visited instruction that does not choose a way.
    /// The others are at exception handlers, at entries that no thread has used, and behind jumps by tables.
    #[serde(default)]
    pub behind_visited: u64,
}

/// A piece of generated code, with the instructions that were visited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VisitedCode {
    /// The VM's name for the code: `nmethod`, `Interpreter`, the name of a stub.
    pub name: String,
    /// Of a compiled method: `package.Class.method`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Of a compiled method: the tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<i32>,
    /// The address of the first byte.
    pub start: usize,
    /// The offset at which the stubs of a compiled method begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stubs: Option<u32>,
    /// The bytes, as hexadecimal digits.
    pub code: String,
    /// The offsets of the instructions that were visited, and the worst verdict at each.
    pub visited: Vec<(u32, Worst)>,
    /// Of a compiled method: the offsets of the instructions that were not visited, before the stubs. Absent if
    /// the code does not decode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<Vec<u32>>,
    /// Of these the offsets behind branches that no thread has taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind_branches: Option<Vec<u32>>,
    /// Of the rest the offsets of those that follow a visited instruction that does not choose a way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind_visited: Option<Vec<u32>>,
    /// Whether a thread has run the compiled method step by step from its call to its return.
    #[serde(default)]
    pub has_ended: bool,
}

/// The worst verdict at an instruction.
#[derive(Copy, Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Worst {
    /// Nothing could be judged.
    Unverifiable,
    /// The answer was true.
    Match,
    /// The answer was true as far as it goes, and said that inlined frames may be missing.
    Flagged,
    /// The inlined frames were those of a neighbouring debug info record.
    Imprecise,
    /// An error code.
    Error,
    /// The bottom was missing.
    Truncated,
    /// The stack was false.
    Wrong,
}

impl Coverage {
    fn add(&mut self, other: Coverage) {
        self.methods += other.methods;
        self.instructions += other.instructions;
        self.visited += other.visited;
        self.behind_branches += other.behind_branches;
        self.behind_visited += other.behind_visited;
    }
}

impl InstructionCounts {
    /// Adds a compiled method. `has_ended` says whether a thread has run it from its call to its return.
    pub fn add_method(&mut self, method: Coverage, has_ended: bool) {
        self.coverage.get_or_insert_default().add(method);
        if has_ended {
            self.ended.get_or_insert_default().add(method);
        }
    }

    /// Adds an instruction.
    pub fn add(&mut self, worst: Worst) {
        self.all += 1;
        match worst {
            Worst::Wrong | Worst::Truncated => self.mismatch += 1,
            Worst::Error => self.error += 1,
            Worst::Imprecise => self.imprecise += 1,
            Worst::Flagged => self.flagged += 1,
            Worst::Unverifiable => self.unverifiable += 1,
            Worst::Match => {}
        }
    }
}
