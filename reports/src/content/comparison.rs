//! A comparison of a report with other runs.

use super::since;
use crate::model::{Answer, Document};
use oracle::gate::Against;
use oracle::report::Report;

/// What changed, and what would have been seen.
pub fn comparison(report: &Report, against: &Against) -> Document {
    let objections = against.objections();
    let reasons: Vec<String> = objections.into_iter().map(|reason| reason.text).collect();
    Document {
        answer: Some(Answer {
            outcome: against.outcome(),
            headline: reasons.first().cloned(),
            reasons,
        }),
        sections: since::sections(report, against),
    }
}
