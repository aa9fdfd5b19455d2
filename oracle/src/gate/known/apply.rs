//! The known issues, applied to a report.

use super::issue::{KnownIssue, KnownIssues};
use super::seen::KnownSeen;
use crate::Layer;
use crate::gate::kinds;
use crate::gate::layers::ByCause;
use crate::record::{KindCount, Mismatch};
use crate::report::{Report, Run};

/// Which mismatches of a report are known.
#[derive(Copy, Clone)]
pub(in crate::gate) struct Known<'a> {
    pub(in crate::gate) issues: &'a KnownIssues,
    /// The processor architecture, as in `std::env::consts::ARCH`.
    pub(in crate::gate) platform: &'a str,
}

impl Known<'_> {
    /// Whether mismatches of this kind are known in a run.
    pub(in crate::gate) fn explains(self, report: &Report, run: &Run, kind: &KindCount) -> bool {
        let mut issues = self.issues.issues.iter();
        issues.any(|issue| issue.covers(kind) && issue.applies(report, run, self.platform))
    }

    /// Whether a mismatch that was written down is known.
    pub(in crate::gate) fn explains_one(self, report: &Report, mismatch: &Mismatch) -> bool {
        let run = report.run_of(mismatch);
        run.is_some_and(|run| self.explains(report, run, &kinds::of_one(mismatch)))
    }

    /// How many mismatches of a layer are known, and how many of the others have no cause.
    pub(in crate::gate) fn of_layer(self, report: &Report, layer: Layer) -> ByCause {
        let mut sums = ByCause::default();
        for run in &report.runs {
            let kinds = kinds::of_run(report, run);
            for kind in kinds.iter().filter(|kind| kind.layer == layer) {
                if self.explains(report, run, kind) {
                    sums.known += kind.count;
                } else if kind.is_unexplained() {
                    sums.unexplained += kind.count;
                }
            }
        }
        sums
    }

    /// What the report shows of each issue that it could show.
    pub(in crate::gate) fn seen(self, report: &Report) -> Vec<KnownSeen> {
        let issues = self.issues.issues.iter();
        issues
            .filter_map(|issue| self.seen_of(report, issue))
            .collect()
    }

    fn seen_of(self, report: &Report, issue: &KnownIssue) -> Option<KnownSeen> {
        let (mut mismatches, mut decided) = (0, 0);
        for run in &report.runs {
            if !issue.applies(report, run, self.platform) {
                continue;
            }
            let kinds = kinds::of_run(report, run);
            let covered = kinds.iter().filter(|kind| issue.covers(kind));
            mismatches += covered.map(|kind| kind.count).sum::<u64>();
            let counts = run.layers.iter().filter(|of| of.layer == issue.layer);
            decided += counts.map(|of| of.tally().decided()).sum::<u64>();
        }
        (decided > 0).then(|| KnownSeen::new(issue, mismatches, decided))
    }
}
