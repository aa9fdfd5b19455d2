//! Findings, counted by reason.

use super::finding::Finding;
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;
use std::fmt;

/// How often each finding was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    stacks: u64,
    findings: HashMap<Finding, u64, FxBuildHasher>,
}

impl Counts {
    /// Counts the findings on one stack.
    pub fn add(&mut self, findings: &[Finding]) {
        self.stacks += 1;
        for &finding in findings {
            *self.findings.entry(finding).or_default() += 1;
        }
    }

    /// The number of stacks that were judged.
    pub fn stacks(&self) -> u64 {
        self.stacks
    }

    /// Each finding with its count; possible before impossible before unknown.
    pub fn findings(&self) -> impl Iterator<Item = (Finding, u64)> + use<> {
        let findings = self.findings.iter();
        let mut all: Vec<_> = findings
            .map(|(&finding, &count)| (finding, count))
            .collect();
        all.sort_unstable();
        all.into_iter()
    }

    /// How many edges were possible, impossible and unknown.
    pub fn sums(&self) -> [u64; 3] {
        let mut sums = [0; 3];
        for (finding, count) in self.findings() {
            sums[match finding {
                Finding::Possible(_) => 0,
                Finding::Impossible(_) => 1,
                Finding::Unknown(_) => 2,
            }] += count;
        }
        sums
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sums @ [possible, impossible, unknown] = self.sums();
        let (stacks, edges) = (self.stacks, sums.iter().sum::<u64>());
        write!(
            f,
            "stacks {stacks}, edges {edges}, possible {possible}, impossible {impossible}, unknown {unknown}"
        )
    }
}
