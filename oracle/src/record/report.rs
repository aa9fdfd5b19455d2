//! The results of one or more runs, in the form of `report.json`.

use crate::bias::{Pairs, Sampler, StackProfiles};
use crate::budget::Budget;
use crate::cost::Cost;
use crate::profile::Profile;
use crate::record::altered::AlteredWalks;
use crate::record::{
    ClassData, EdgeCounts, ErrorCount, InstantCount, JoinCounts, KindCount, Lost, Mismatch, Origin,
    Rewriting, StatementBudget, StepCounts, VmFlag,
};
use crate::tally::{Compared, Drop, Tally};
use crate::{Hooking, Layer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The number of this format. It changes when a reader of the old format would read wrong results.
/// From 2 on layers count `imprecise` stacks, which are decided checks; 3 has layers of suspended
/// threads; 4 has layers of steps, of JFR and of AsyncGetStackTrace, and the pairs of profilers; 5 has layers of
/// the stack traces that Java code gets; from 6 on error codes are those that the APIs return: earlier formats have -11
/// to -15 for AsyncGetStackTrace's -17 to -21, -8 to -10 for its -22 to -24, -15 for all of JVMTI's codes above 14, and
/// -14 for a crash of the walker.
pub const SCHEMA: u32 = 6;

/// The oldest format that can be read. Fields that it does not have count as 0.
pub const OLDEST_SCHEMA: u32 = 1;

/// The results of one or more runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`], or an older schema down to [`OLDEST_SCHEMA`].
    pub schema: u32,
    /// The name of the scenario; empty in reports of earlier versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scenario: String,
    /// The JDK that was judged.
    pub jdk: Jdk,
    /// Whether all requested runs have ended.
    pub complete: bool,
    /// The runs, in their order.
    pub runs: Vec<Run>,
    /// The layers, summed over the runs.
    pub layers: Vec<LayerCounts>,
    /// Mismatches with their evidence, up to each run's limit.
    pub mismatches: Vec<Mismatch>,
    /// The highest mismatch rates that are allowed.
    #[serde(default)]
    pub budget: Budget,
    /// The highest rates of imprecise stacks that are allowed.
    #[serde(default)]
    pub imprecise_budget: Budget,
    /// Of how many of its samples a sampler of the JVM may say that they are biased, truncated, failed or lost.
    #[serde(default, skip_serializing_if = "StatementBudget::is_empty")]
    pub statement_budget: StatementBudget,
    /// Layers without which the report says too little.
    #[serde(default)]
    pub required: Vec<Layer>,
    /// The number of requested programs, those of other shards included.
    #[serde(default)]
    pub planned: usize,
    /// Requested programs that did not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    /// Where the runs come from, an origin for each session; absent in reports of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<Origin>,
}

impl Report {
    /// The run of a mismatch.
    pub fn run_of(&self, mismatch: &Mismatch) -> Option<&Run> {
        let dir = mismatch.evidence.run.as_ref();
        self.runs.iter().find(|run| Some(&run.dir) == dir)
    }

    /// The JDK of a run of this report.
    pub fn jdk_of<'a>(&'a self, run: &'a Run) -> &'a Jdk {
        run.jdk.as_ref().unwrap_or(&self.jdk)
    }

    /// What of the VMs could not be read, each once.
    pub fn lost(&self) -> Vec<&Lost> {
        let mut all: Vec<&Lost> = vec![];
        for lost in self.runs.iter().flat_map(|run| &run.lost) {
            if !all.contains(&lost) {
                all.push(lost);
            }
        }
        all
    }

    /// What the layer lacks, if something that it needs could not be read.
    pub fn lost_of(&self, layer: Layer) -> Option<&Lost> {
        let mut lost = self.lost().into_iter();
        lost.find(|lost| lost.layers.contains(&layer))
    }

    /// The sums of a layer, if the report has the layer.
    pub fn layer(&self, layer: Layer) -> Option<&LayerCounts> {
        self.layers.iter().find(|counts| counts.layer == layer)
    }
}

/// A requested program that did not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skipped {
    /// The scenario's program.
    pub scenario: String,
    /// The reason.
    pub why: String,
    /// The folder that the run would have had, relative to the report; empty in reports of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub dir: String,
}

/// The JDK that was judged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Jdk {
    /// Its folder.
    pub home: String,
    /// Its vendor.
    pub vendor: String,
    /// The version of its VM.
    pub version: String,
    /// The name of its VM.
    pub vm: String,
}

/// One run of one program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The scenario's program.
    pub scenario: String,
    /// The arguments of `java`, without those for the agent.
    pub java_args: Vec<String>,
    /// How its hooks kept the trace stack; absent in reports of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Hooking>,
    /// The probability with which each method was hooked, if it was below 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// Seed of the run's random choices.
    pub seed: u64,
    /// How the JVM ended.
    pub exit: Exit,
    /// How long it ran, in seconds.
    pub wall_s: f64,
    /// The cost of the run, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The profiler whose samples were judged, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profiler: Option<GivenProfiler>,
    /// The results of the checks.
    pub layers: Vec<LayerCounts>,
    /// The rewriter's counts, if the agent could write them: not if the JVM crashed early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewriting: Option<Rewriting>,
    /// Why the run is worthless, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<String>,
    /// The failure of the program itself, for example of a benchmark that rejects its own result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// The folder of its output and further files, relative to the report.
    pub dir: String,
    /// The JDK, if the target got far enough to report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jdk: Option<Jdk>,
    /// Whether the JVM took classes from an archive; absent in reports of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_data: Option<ClassData>,
    /// The VM's flags that have not the build's own value, and who set them. All flags are in `flags.txt` in the run's folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<VmFlag>,
    /// Its place in the scenario's matrix: axis and value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub axes: BTreeMap<String, String>,
    /// What of the VM could not be read. The layers that need it are not judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Lost>,
    /// Notes for the reader: a crash's summary, a record that was cut off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The kinds of code in which the sampler's walker returned errors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorCount>,
    /// Instants that were no checks, because a handler of another signal was running: how many, by the library of the
    /// handler.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub in_handlers: BTreeMap<String, u64>,
    /// What walkers answered at each kind of instant, where those of signals and events were asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instants: Vec<InstantCount>,
    /// How often mismatches of each kind were seen. All mismatches count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<KindCount>,
    /// All stacks that the sampler's walker returned.
    #[serde(default, skip_serializing_if = "Profile::is_empty")]
    pub profile: Profile,
    /// The findings on call edges.
    #[serde(default, skip_serializing_if = "EdgeCounts::is_empty")]
    pub edges: EdgeCounts,
    /// What threads did that ran one instruction at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepCounts>,
    /// The walks from altered contexts, in runs that make them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub altered: Option<AlteredWalks>,
    /// What was joined of the events of the JVM's own samplers, in runs that have their layers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<JoinCounts>,
    /// What the truth and a sampler named at the same instants.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bias: BTreeMap<Sampler, Pairs>,
    /// The true stacks and those of a sampler, at the same instants.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bias_stacks: BTreeMap<Sampler, StackProfiles>,
}

impl Run {
    /// A run of a program that ended so, and of which nothing else is known.
    pub fn new(scenario: impl Into<String>, exit: Exit) -> Run {
        Run {
            scenario: scenario.into(),
            java_args: vec![],
            hooks: None,
            probability: None,
            seed: 0,
            exit,
            wall_s: 0.0,
            cost: None,
            profiler: None,
            layers: vec![],
            rewriting: None,
            invalid: None,
            failed: None,
            dir: String::new(),
            jdk: None,
            class_data: None,
            flags: vec![],
            axes: BTreeMap::new(),
            lost: vec![],
            notes: vec![],
            errors: vec![],
            in_handlers: BTreeMap::new(),
            instants: vec![],
            kinds: vec![],
            steps: None,
            altered: None,
            joined: vec![],
            bias: BTreeMap::new(),
            bias_stacks: BTreeMap::new(),
            profile: Profile::default(),
            edges: EdgeCounts::default(),
        }
    }

    /// The program's name with the run's place in the matrix.
    pub fn title(&self) -> String {
        title(&self.scenario, &self.axes)
    }
}

/// A profiler that was given, such as `async-profiler cstack=vm event=wall`.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct GivenProfiler {
    /// The name in its description.
    pub name: String,
    /// Its options that say how it samples and walks stacks, in the order of the description.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

impl fmt::Display for GivenProfiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = std::iter::once(&self.name);
        let words: Vec<&str> = name.chain(&self.options).map(String::as_str).collect();
        f.write_str(&words.join(" "))
    }
}

/// A program's name with its place in a matrix, such as `fixtures[collector=g1]`.
pub fn title(program: &str, axes: &BTreeMap<String, String>) -> String {
    let places: Vec<String> = axes
        .iter()
        .map(|(axis, value)| format!("{axis}={value}"))
        .collect();
    if places.is_empty() {
        program.into()
    } else {
        format!("{program}[{}]", places.join(","))
    }
}

/// How a JVM ended. In JSON an exit code is a number, and any other end is a text.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(into = "WrittenExit", try_from = "WrittenExit")]
pub enum Exit {
    /// By itself, with this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// By the runner, after its deadline.
    Deadline,
    /// By the runner, because the user interrupted the run.
    Interrupted,
    /// The JVM could not be started, for this reason.
    NotStarted(String),
}

/// The forms of [`Exit`] in JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenExit {
    Code(i32),
    Text(String),
}

const SIGNAL: &str = "signal ";
const DEADLINE: &str = "deadline";
const INTERRUPTED: &str = "interrupted";
const NOT_STARTED: &str = "not started: ";

impl From<Exit> for WrittenExit {
    fn from(exit: Exit) -> WrittenExit {
        WrittenExit::Text(match exit {
            Exit::Code(code) => return WrittenExit::Code(code),
            Exit::Signal(signal) => format!("{SIGNAL}{signal}"),
            Exit::Deadline => DEADLINE.into(),
            Exit::Interrupted => INTERRUPTED.into(),
            Exit::NotStarted(reason) => format!("{NOT_STARTED}{reason}"),
        })
    }
}

impl TryFrom<WrittenExit> for Exit {
    type Error = String;

    fn try_from(written: WrittenExit) -> Result<Exit, String> {
        let text = match written {
            WrittenExit::Code(code) => return Ok(Exit::Code(code)),
            WrittenExit::Text(text) => text,
        };
        if let Some(reason) = text.strip_prefix(NOT_STARTED) {
            return Ok(Exit::NotStarted(reason.into()));
        }
        let signal = text.strip_prefix(SIGNAL).and_then(|n| n.parse().ok());
        match (text.as_str(), signal) {
            (DEADLINE, _) => Ok(Exit::Deadline),
            (INTERRUPTED, _) => Ok(Exit::Interrupted),
            (_, Some(signal)) => Ok(Exit::Signal(signal)),
            _ => Err(format!("`{text}` is no way to end")),
        }
    }
}

/// The counts of one layer, in the form of `report.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerCounts {
    /// The layer.
    pub layer: Layer,
    /// All checks.
    pub checks: u64,
    /// Checks that agreed.
    #[serde(rename = "match")]
    pub matches: u64,
    /// Checks within a proven window.
    pub window: u64,
    /// Checks that showed inlined frames of a neighbouring debug info record.
    #[serde(default)]
    pub imprecise: u64,
    /// Checks without truth, dropped samples included.
    pub unverifiable: u64,
    /// Of `unverifiable`, samples that were lost.
    pub dropped: u64,
    /// Of `unverifiable`, answers that say of themselves that they may not be whole.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flagged: u64,
    /// Checks that ended with an error, by code.
    pub error: BTreeMap<i32, u64>,
    /// Checks in which the bottom was missing.
    pub truncated: u64,
    /// Checks that showed a false stack.
    pub wrong: u64,
    /// (truncated + wrong) / (checks - unverifiable - error); absent without such checks.
    pub mismatch_rate: Option<f64>,
    /// The exact upper 95 % bound of the rate.
    pub mismatch_upper95: Option<f64>,
    /// `dropped` by cause.
    pub dropped_by_cause: BTreeMap<Drop, u64>,
    /// imprecise / (checks - unverifiable - error); absent without such checks.
    #[serde(default)]
    pub imprecise_rate: Option<f64>,
    /// How much of the walks that matched was compared.
    #[serde(default)]
    pub compared: Compared,
}

impl LayerCounts {
    /// The counts of `tally`, with its rate and bound computed.
    pub fn new(layer: Layer, tally: &Tally) -> LayerCounts {
        LayerCounts {
            layer,
            checks: tally.checks(),
            matches: tally.matches,
            window: tally.window,
            imprecise: tally.imprecise,
            unverifiable: tally.unverifiable,
            dropped: tally.drops(),
            flagged: tally.flagged,
            error: tally.error.clone(),
            truncated: tally.truncated,
            wrong: tally.wrong,
            mismatch_rate: tally.mismatch_rate(),
            mismatch_upper95: tally.mismatch_upper95(),
            dropped_by_cause: tally.dropped.clone(),
            imprecise_rate: tally.imprecise_rate(),
            compared: tally.compared,
        }
    }

    /// Stacks that were cut short or false.
    pub fn mismatches(&self) -> u64 {
        self.truncated + self.wrong
    }

    /// The tally that these counts came from.
    pub fn tally(&self) -> Tally {
        Tally {
            matches: self.matches,
            window: self.window,
            imprecise: self.imprecise,
            unverifiable: self.unverifiable,
            truncated: self.truncated,
            wrong: self.wrong,
            error: self.error.clone(),
            dropped: self.dropped_by_cause.clone(),
            flagged: self.flagged,
            compared: self.compared,
        }
    }
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// The layers summed over `runs`, lowest first; layers that no run measured are left out.
pub fn sum_layers(runs: &[Run]) -> Vec<LayerCounts> {
    let mut sums: BTreeMap<Layer, Tally> = BTreeMap::new();
    for counts in runs.iter().flat_map(|run| &run.layers) {
        *sums.entry(counts.layer).or_default() += &counts.tally();
    }
    sums.iter()
        .map(|(&layer, tally)| LayerCounts::new(layer, tally))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_comes_back() {
        for (exit, written) in [
            (Exit::Code(7), "7"),
            (Exit::Signal(11), "\"signal 11\""),
            (Exit::Deadline, "\"deadline\""),
            (Exit::Interrupted, "\"interrupted\""),
            (
                Exit::NotStarted("no file".into()),
                "\"not started: no file\"",
            ),
        ] {
            assert_eq!(serde_json::to_string(&exit).expect("plain data"), written);
            assert_eq!(
                serde_json::from_str::<Exit>(written).expect("just written"),
                exit
            );
        }
        assert!(serde_json::from_str::<Exit>("\"somehow\"").is_err());
    }

    #[test]
    fn counts_keep_their_tally() {
        let tally = Tally {
            matches: 10,
            window: 2,
            imprecise: 5,
            unverifiable: 3,
            truncated: 1,
            wrong: 4,
            error: BTreeMap::from([(-5, 7)]),
            dropped: BTreeMap::from([(Drop::TooDeep, 2)]),
            flagged: 0,
            compared: Compared {
                frames: 99,
                by_method: 50,
                by_bci: 20,
            },
        };
        let counts = LayerCounts::new(Layer::Gst, &tally);
        assert_eq!(counts.tally(), tally);
        assert_eq!(counts.checks, 32);
        let json = serde_json::to_value(&counts).expect("plain data");
        assert_eq!(json["error"]["-5"], 7);
        assert_eq!(json["match"], 10);
        let back: LayerCounts = serde_json::from_value(json.clone()).expect("just written");
        assert_eq!(back, counts);
        // As reports of schema 1 are.
        let mut old = json;
        for name in ["imprecise", "imprecise_rate", "compared"] {
            old.as_object_mut().expect("an object").remove(name);
        }
        let old: LayerCounts = serde_json::from_value(old).expect("old reports can be read");
        assert_eq!((old.imprecise, old.compared), (0, Compared::default()));
    }
}
