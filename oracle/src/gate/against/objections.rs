//! What a comparison with a baseline says against a report.

use super::change::Alarm;
use super::judge::Against;
use crate::gate::outcome::Outcome;
use crate::gate::reason::{Objection, Subject};

impl Against {
    /// What speaks against the report: kinds that are worse first, then why report and baseline cannot
    /// be compared.
    pub fn objections(&self) -> Vec<Objection> {
        let obstacles = self.obstacles.iter();
        let obstacles =
            obstacles.map(|why| Objection::new(Outcome::NotMeasured, Subject::Report, why));
        let findings = self.findings().into_iter();
        let worse = findings.filter(|finding| finding.first.alarm.is_worse());
        let worse = worse.map(|finding| {
            let what = match finding.first.alarm {
                Alarm::New => "new since the baseline",
                Alarm::Rose | Alarm::Fell => "more than in the baseline",
            };
            let subject = Subject::Layer(finding.first.cell.layer);
            Objection::new(Outcome::Over, subject, format!("{what}: {finding}"))
        });
        worse.chain(obstacles).collect()
    }
}
