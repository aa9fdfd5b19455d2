//! A comparison of a report with other runs.

use super::since;
use crate::content::warnings::warnings;
use crate::model::{Answer, Block, Document, Room, Section};
use crate::numbers::counted;
use oracle::gate::{Baseline, Comparison};
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

/// The runs with which a report is compared. `source` is where a reader finds them.
pub fn base(base: &Baseline, source: &str) -> Section {
    let sets = base.sets.values().map(|set| {
        let mut versions: Vec<&str> = set.samples.iter().map(|of| of.version.as_str()).collect();
        versions.sort_unstable();
        versions.dedup();
        let runs = counted(set.samples.len() as u64, "run", "runs");
        format!("{runs} of {}", versions.join(", "))
    });
    let sets: Vec<String> = sets.collect();
    Section {
        id: "base",
        title: "",
        room: Room::Summary,
        blocks: vec![Block::Note(format!(
            "Compared with {}, from {source}.",
            sets.join(" and ")
        ))],
    }
}
