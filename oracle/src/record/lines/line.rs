//! The lines of the agent's records.
//!
//! The agent appends records to a file in its run's folder. Each [`Record`] is a line of JSON,
//! written with one write, so that a crash costs at most the line being written. Counts are not in
//! this file, but in the shared slots (see [`super::tally`]).

use super::edges::EdgeCounts;
use super::errors::ErrorCount;
use super::instants::InstantCount;
use super::kept::Kept;
use super::kinds::KindCount;
use super::lost::Lost;
use super::pace::Paced;
use super::profile::Profile;
use super::rewriting::Rewriting;
use super::steps::StepCounts;
use crate::bias::{Pairs, Sampler, StackProfiles};
use crate::record::faults::FaultCount;
use crate::record::{ClassData, VmFlag};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One line of the agent's records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    /// The agent was loaded, with all that it needs.
    Started(Started),
    /// What of the VM cannot be read.
    Lost(Vec<Lost>),
    /// A truncated, wrong or imprecise stack, with its evidence. The last record of each place in
    /// the sample counts.
    Mismatch(Box<Kept>),
    /// An event that makes the whole run worthless, for example a panic of the agent.
    Invalid(String),
    /// The rewriter's counts. The last record counts.
    Rewriting(Rewriting),
    /// How the injected faults ended. The last record counts.
    Faults(Vec<FaultCount>),
    /// The kinds of code in which the sampler's walker returned errors. The last record counts.
    Errors(Vec<ErrorCount>),
    /// What walkers answered at each kind of instant. The last record counts.
    Instants(Vec<InstantCount>),
    /// How often mismatches of each kind were seen, for the kinds whose count has changed. The last
    /// count of a kind counts.
    Kinds(Vec<KindCount>),
    /// The sampler's speed for some time, if it is measured.
    Paced(Paced),
    /// All stacks that the sampler's walker returned. The last record counts.
    Profile(Profile),
    /// What the truth and the walkers named at the same instants. The last record counts.
    Bias(BTreeMap<Sampler, Pairs>),
    /// The true stacks and those that the walkers showed. The last record counts.
    Stacks(BTreeMap<Sampler, StackProfiles>),
    /// What threads did that ran one instruction at a time. The last record counts.
    Steps(StepCounts),
    /// Instants that were no checks, because a handler of another signal was running: how many, by the library of the
    /// handler. The last record counts.
    InHandlers(BTreeMap<String, u64>),
    /// The findings on call edges. The last record counts.
    Edges(EdgeCounts),
    /// The VM ended in an orderly way.
    Ended,
}

/// The agent's facts at its start.
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
    /// Whether the VM takes classes from an archive; absent in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_data: Option<ClassData>,
    /// The flags that have not the build's own value; absent in records of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<VmFlag>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Unseen;
    use crate::mutants::{Detection, FaultKind};
    use crate::record::{Address, CauseName, Evidence, Mismatch, MismatchCount, ShownFrame};
    use crate::{Layer, Verdict};

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
            cause: Some(CauseName::new("leaf-call")),
            evidence: Evidence {
                pc: Some(Address(0x12)),
                ..Evidence::default()
            },
        };
        for record in [
            Record::Mismatch(Box::new(Kept {
                place: Some(3),
                mismatch,
            })),
            Record::Started(Started::default()),
            Record::Lost(vec![Lost::default()]),
            Record::Rewriting(Rewriting::default()),
            Record::Invalid("x".into()),
            Record::Faults(vec![FaultCount {
                layer: Layer::Gst,
                kind: FaultKind::Swap.to_string(),
                verdict: Verdict::Error(-2),
                outcome: Detection::Explained(Unseen::Moves),
                count: 3,
            }]),
            Record::Errors(vec![ErrorCount {
                layer: Layer::AsgctAsync,
                code: -5,
                state: "in Java".into(),
                place: "nmethod tier 4".into(),
                intact: false,
                count: 7,
            }]),
            Record::Kinds(vec![KindCount {
                layer: Layer::AsgctAsync,
                verdict: Verdict::Wrong,
                cause: Some(CauseName::new(CauseName::NOT_LOOKED_AT)),
                place: "A.b".into(),
                count: 7,
            }]),
            Record::Instants(vec![InstantCount {
                layer: Layer::AsgctAsync,
                at: "in Java, Interpreter".into(),
                checks: 9,
                errors: BTreeMap::from([(-5, 2)]),
                mismatches: vec![MismatchCount {
                    verdict: Verdict::Wrong,
                    cause: None,
                    place: "A.b".into(),
                    count: 1,
                }],
            }]),
            Record::Profile(Profile::new(&["A.b()V".into()], [(vec![0], 2)], 9, 1)),
            Record::Bias(BTreeMap::from([
                (Sampler::Walker(Layer::AsgctAsync), Pairs::default()),
                (Sampler::Safepoint, Pairs::default()),
            ])),
            Record::Stacks(BTreeMap::from([(
                Sampler::Safepoint,
                StackProfiles::default(),
            )])),
            Record::Ended,
        ] {
            let line = serde_json::to_string(&record).expect("records are plain data");
            assert!(!line.contains('\n'));
            let back: Record = serde_json::from_str(&line).expect("it was written by us");
            assert_eq!(back, record);
        }
    }
}
