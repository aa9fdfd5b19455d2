//! The decision: layer by layer, and what is known already.

use super::changes::{since, worse};
use super::warnings::warnings;
use crate::model::Kind::{Numbers, Words};
use crate::model::{Answer, Block, Cell, Document, Finding, Room, Section, Table, Tone};
use crate::numbers::{count, counted};
use oracle::gate::{Basis, Decision, KnownStanding, LayerDecision, Standing};
use oracle::outcome::Outcome;
use oracle::record::Mismatch;
use oracle::report::Report;

/// The decision on a report, without what the report holds besides.
pub fn decision(report: &Report, decided: &Decision) -> Document {
    let against = decided.against.iter();
    let mut all: Vec<Section> = against
        .flat_map(|against| since::sections(report, against))
        .collect();
    all.extend(worse(report, decided));
    all.extend(sections(decided));
    Document {
        warnings: warnings(report),
        answer: Some(answer(decided)),
        sections: all,
    }
}

/// What no honest JVM shows, and layers over their budgets, each with an example.
fn worse(report: &Report, decided: &Decision) -> Option<Section> {
    let broken = worse::impossible(report, &decided.broken).into_iter();
    let mut blocks: Vec<Block> = broken.flat_map(Finding::into_blocks).collect();
    for of in &decided.layers {
        let (layer, judged) = (of.layer, count(of.decided));
        let finding = match of.standing {
            Standing::Over => {
                let text = format!(
                    "{layer}: {} of {judged} stacks are false",
                    count(of.mismatches)
                );
                worse::untrue(report, layer, text, |_| true)
            }
            Standing::Unexplained(stacks) => {
                let text = format!(
                    "{layer}: no known defect of a walker explains {} false stacks of {judged}",
                    count(stacks)
                );
                worse::untrue(report, layer, text, Mismatch::is_unexplained)
            }
            _ => continue,
        };
        blocks.extend(finding.into_blocks());
    }
    (!blocks.is_empty()).then_some(Section {
        id: "worse",
        title: "What is over",
        room: Room::Terminal,
        blocks,
    })
}

/// The answer, with the reasons in words.
pub(super) fn answer(decided: &Decision) -> Answer {
    let reasons = decided.reasons.iter();
    Answer {
        outcome: decided.outcome,
        verdict: decided.outcome.to_string(),
        headline: since::headline(decided),
        reasons: reasons.map(|reason| reason.text.clone()).collect(),
    }
}

/// The layers, and the known issues where there are any.
pub(super) fn sections(decided: &Decision) -> Vec<Section> {
    let title = match decided.basis {
        Basis::ObservedRates => "Layers by their observed rates",
        Basis::UpperBounds => "Layers by the upper bounds of their rates",
        Basis::Baseline => "Layers against the baseline",
    };
    let layers = Section {
        id: "layers",
        title,
        room: Room::Terminal,
        blocks: vec![Block::Table(layers(&decided.layers))],
    };
    let mut sections = vec![layers];
    sections.extend(statements(decided));
    sections.extend(known(decided));
    sections
}

/// A row for each layer.
pub(super) fn layers<'a>(layers: impl IntoIterator<Item = &'a LayerDecision>) -> Table {
    let mut table = Table::new([
        ("layer", Words),
        ("decided", Numbers),
        ("mismatches", Numbers),
        ("known", Numbers),
        ("upper95", Numbers),
        ("budget", Numbers),
        ("imprecise", Numbers),
        ("their budget", Numbers),
        ("standing", Words),
    ]);
    for layer in layers {
        let tone = match (layer.outcome(), &layer.standing) {
            (Outcome::Within, Standing::Passes) => Tone::Good,
            (Outcome::Within, _) => Tone::Plain,
            _ => Tone::Bad,
        };
        let cells = [
            Cell::text(layer.layer),
            Cell::Count(layer.decided),
            Cell::Count(layer.mismatches),
            Cell::Count(layer.known),
            Cell::Rate(layer.upper95),
            Cell::Budget(layer.budget),
            Cell::Count(layer.imprecise),
            Cell::Budget(layer.imprecise_budget),
            Cell::Text(standing(&layer.standing)),
        ];
        table.push(tone, cells);
    }
    table
}

pub(super) fn standing(standing: &Standing) -> String {
    match standing {
        Standing::Passes => "pass".into(),
        Standing::Over => "over budget".into(),
        Standing::TooImprecise => "over the budget of imprecise stacks".into(),
        Standing::Unexplained(stacks) => {
            let stacks = counted(*stacks, "false stack", "false stacks");
            format!("{stacks} without a known cause")
        }
        Standing::TooFew(more) => format!("needs {} more checks", count(*more)),
        Standing::Worse(cells) => {
            let cells = counted(*cells as u64, "cell", "cells");
            format!("worse than the baseline in {cells}")
        }
        Standing::TooWeak(more, minutes) => {
            format!(
                "needs {} more checks, about {minutes} minutes",
                count(*more)
            )
        }
        Standing::NoData => "no data".into(),
        Standing::Missing => "missing".into(),
        Standing::Blind => "not judged: what it needs cannot be read".into(),
    }
}

/// What samplers say of their own samples, where the scenario limits it.
fn statements(decided: &Decision) -> Option<Section> {
    let mut table = Table::new([
        ("layer", Words),
        ("the sampler says", Words),
        ("samples", Numbers),
        ("of all", Numbers),
        ("upper95", Numbers),
        ("budget", Numbers),
        ("standing", Words),
    ]);
    for of in &decided.statements {
        let (tone, standing) = match of.missing {
            _ if of.is_over() => (Tone::Bad, "over budget".into()),
            _ if of.samples == 0 => (Tone::Plain, "no data".into()),
            Some(more) => (Tone::Bad, format!("too few samples: {more} more needed")),
            None => (Tone::Good, "pass".into()),
        };
        let cells = [
            Cell::text(of.layer),
            Cell::text(of.statement),
            Cell::Count(of.count),
            Cell::Count(of.samples),
            Cell::Rate(of.upper95),
            Cell::Budget(of.budget),
            Cell::Text(standing),
        ];
        table.push(tone, cells);
    }
    (!table.rows.is_empty()).then(|| Section {
        id: "statements",
        title: "What samplers say of their own samples",
        room: Room::Terminal,
        blocks: vec![Block::Table(table)],
    })
}

fn known(decided: &Decision) -> Option<Section> {
    let mut table = Table::new([
        ("known issue", Words),
        ("mismatches", Numbers),
        ("decided", Numbers),
        ("its rate", Numbers),
        ("standing", Words),
        ("about", Words),
    ]);
    for known in &decided.known {
        let (tone, standing) = match known.standing {
            KnownStanding::Expected => (Tone::Plain, "as expected".into()),
            KnownStanding::Passes => (Tone::Plain, "unexpected pass: is the issue fixed?".into()),
            KnownStanding::TooMany => (Tone::Bad, "more often than its rate".into()),
            KnownStanding::TooFew(more) => {
                (Tone::Bad, format!("too few checks: {more} more needed"))
            }
        };
        let cells = [
            Cell::text(&known.id),
            Cell::Count(known.mismatches),
            Cell::Count(known.decided),
            Cell::Budget(known.max_rate),
            Cell::Text(standing),
            Cell::text(&known.link),
        ];
        table.push(tone, cells);
    }
    (!table.rows.is_empty()).then(|| Section {
        id: "known",
        title: "Known issues",
        room: Room::Terminal,
        blocks: vec![Block::Table(table)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{Style, text};
    use crate::sample::{issue, report};
    use oracle::Layer;
    use oracle::gate::{KnownIssues, Rule, decide};

    #[test]
    fn a_bit_of_everything() {
        let report = report();
        let known = KnownIssues {
            issues: vec![issue("JDK-1", "x.A.<init>"), issue("JDK-2", "y.B.m")],
        };
        let rule = Rule::UpperBounds {
            known: &known,
            platform: "x86_64",
        };
        let decided = decide(&report, rule, &[]);
        let layer = Layer::AsgctAsync;
        let evidence = super::super::mismatches::evidence(&report, &decided, layer);
        let shown = text(&decision(&report, &decided), Style::Plain) + "\n" + &evidence;
        insta::assert_snapshot!(shown);
    }
}
