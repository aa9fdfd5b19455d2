//! A comparison of a report with other runs.

use super::since;
use crate::content::warnings::warnings;
use crate::model::{Answer, Document};
use oracle::gate::Comparison;
use oracle::report::Report;

/// What changed, and what would have been seen.
pub fn comparison(report: &Report, compared: &Comparison) -> Document {
    let reasons = compared.reasons.iter();
    let reasons: Vec<String> = reasons.map(|reason| reason.text.clone()).collect();
    let mut sections = since::sections(report, &compared.against);
    sections.extend(since::cells(&compared.against));
    Document {
        warnings: warnings(report),
        answer: Some(Answer {
            outcome: compared.outcome,
            verdict: compared.outcome.to_string(),
            headline: reasons.first().cloned(),
            reasons,
        }),
        sections,
    }
}
