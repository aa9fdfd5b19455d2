//! The observer effect: what the same program shows with each kind of hooks.

use crate::model::Kind::{Numbers, Words};
use crate::model::{Block, Cell, Room, Section, Table, Tone};
use hotspot::causes::Cause;
use hotspot::walkers::Walker;
use oracle::observer::{Comparison, Occurrence, Only, Row, WalkerLayers, What, comparisons};
use oracle::report::Report;
use oracle::{Hooking, Layer};

/// The kinds of hooks, in the order of the columns.
const WAYS: [Hooking; 3] = [Hooking::Exact, Hooking::Light, Hooking::None];

/// Rates are those of so many checks.
const CHECKS: f64 = 100_000.0;

/// The comparisons, where a program has run with several kinds of hooks.
pub(super) fn sections(report: &Report) -> impl Iterator<Item = Section> {
    let compared = comparisons(report);
    let section = || Section {
        id: "observer",
        title: "The observer effect",
        room: Room::Terminal,
        blocks: [Block::Note(NOTE.into())]
            .into_iter()
            .chain(compared.iter().flat_map(of_program))
            .collect(),
    };
    (!compared.is_empty()).then(section).into_iter()
}

const NOTE: &str = "The same programs with each kind of hooks. Rates are per 100,000 checks, with the interval that \
    holds the true rate with 95 % if checks are independent. Mismatches are per checks that compared a stack, error \
    codes per answers. Where nothing was seen, the upper 95 % bound stands: the rate may be that high.";

fn of_program(of: &Comparison) -> Vec<Block> {
    let program = format!("{} on JDK {}", of.program, of.jvm);
    let mut blocks: Vec<Block> = of
        .places
        .iter()
        .map(|place| Block::Note(format!("{program}: {}", layers(place))))
        .collect();
    blocks.push(Block::Table(table(of)));
    blocks
}

/// Which layers a place has, and how many checks compared a stack.
fn layers(place: &WalkerLayers) -> String {
    let decided = |hooks| {
        let mut rows = place.rows.iter();
        let row = rows.find(|row| row.what == What::Mismatch);
        row.and_then(|row| row.seen.get(&hooks))
            .map_or(0, |seen| seen.checks)
    };
    let of_way = WAYS.into_iter().filter_map(|hooks| {
        let layers = place.layers.get(&hooks)?;
        let names: Vec<_> = layers.iter().map(|layer| layer.name()).collect();
        let checks = decided(hooks);
        Some(format!("{hooks}: {checks} checks of {}", names.join(", ")))
    });
    of_way.collect::<Vec<_>>().join("; ")
}

fn table(of: &Comparison) -> Table {
    let mut table = Table::new([
        ("layers", Words),
        ("seen", Words),
        ("exact", Numbers),
        ("light", Numbers),
        ("none", Numbers),
        ("only with", Words),
    ]);
    for place in &of.places {
        for row in &place.rows {
            let rate = |hooks| match row.seen.get(&hooks) {
                Some(&seen) => Cell::text(rate(seen)),
                None => Cell::Absent,
            };
            let [exact, light, none] = WAYS.map(rate);
            let cells = [
                Cell::text(title(place)),
                Cell::text(what(&row.what, place)),
                exact,
                light,
                none,
                Cell::text(only(row)),
            ];
            table.push(Tone::Plain, cells);
        }
    }
    table
}

/// The place in a few words: its layers, each once.
fn title(place: &WalkerLayers) -> String {
    let mut all: Vec<Layer> = place.layers.values().flatten().copied().collect();
    all.sort();
    all.dedup();
    let names: Vec<_> = all.iter().map(|layer| layer.name()).collect();
    names.join(" / ")
}

fn what(what: &What, place: &WalkerLayers) -> String {
    match what {
        What::Mismatch => "any mismatch".into(),
        What::OfCause(cause) => cause.to_string(),
        What::Imprecise(cause) => {
            let known = Cause::named(cause).is_some();
            let cause = if known { cause.as_str() } else { "no cause" };
            format!("imprecise: {cause}")
        }
        What::Code(code) => {
            let layer = place.layers.values().flatten().next();
            let walker = layer.and_then(|&layer| Walker::of(layer));
            let meaning = walker.map_or("", |walker| walker.meaning(*code));
            format!("error {code} {meaning}").trim_end().into()
        }
    }
}

fn rate(seen: Occurrence) -> String {
    let Some(rate) = seen.rate() else {
        return "no data".into();
    };
    let (low, high) = seen.interval();
    match seen.count {
        0 => format!("0 (below {})", number(high)),
        _ => format!("{} ({} to {})", number(rate), number(low), number(high)),
    }
}

/// A rate per 100,000 checks, with two significant digits at the least.
fn number(rate: f64) -> String {
    let rate = rate * CHECKS;
    match rate {
        ..1.0 => format!("{rate:.2}"),
        ..10.0 => format!("{rate:.1}"),
        _ => format!("{rate:.0}"),
    }
}

/// The kind of hooks that alone shows the row, and the bounds of the others.
fn only(row: &Row) -> String {
    let Some(Only {
        with,
        may_be_chance,
    }) = row.only()
    else {
        return String::new();
    };
    let others = WAYS.into_iter().filter(|&other| other != with);
    let bounds = others.filter_map(|other| {
        let seen = row.seen.get(&other)?;
        let bound = number(seen.interval().1);
        Some(match seen.checks {
            0 => format!("{other}: no data"),
            _ => format!("{other} below {bound}"),
        })
    });
    let bounds = bounds.collect::<Vec<_>>().join(", ");
    let chance = if may_be_chance { "; may be chance" } else { "" };
    format!("{with} ({bounds}{chance})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::Verdict;
    use oracle::record::{CauseName, KindCount};
    use oracle::report::{Exit, LayerCounts, Run, sum_layers};
    use oracle::tally::Tally;
    use std::collections::BTreeMap;

    fn run(hooks: Hooking, layer: Layer, [matches, wrong, codes]: [u64; 3]) -> Run {
        let tally = Tally {
            matches,
            wrong,
            error: BTreeMap::from([(-5, codes)]),
            ..Tally::default()
        };
        Run {
            hooks: Some(hooks),
            axes: BTreeMap::from([("hooks".into(), hooks.name().into())]),
            kinds: vec![KindCount {
                layer,
                verdict: Verdict::Wrong,
                cause: Some(CauseName::new("unwalkable-caller")),
                place: "A.b".into(),
                count: wrong,
            }],
            layers: vec![LayerCounts::new(layer, &tally)],
            ..Run::new("loop", Exit::Code(0))
        }
    }

    #[test]
    fn rates_stand_side_by_side() {
        let runs = vec![
            run(Hooking::Exact, Layer::AsgctSafepoint, [50_515, 0, 7]),
            run(Hooking::None, Layer::AsgctEvent, [1_628, 10_503, 0]),
            run(Hooking::Light, Layer::AsgctSafepoint, [0, 0, 0]),
        ];
        let report = Report {
            layers: sum_layers(&runs),
            runs,
            ..crate::sample::report()
        };
        let section = sections(&report).next().expect("there are three kinds");
        let document = crate::model::Document {
            warnings: vec![],
            answer: None,
            sections: vec![section],
        };
        let text = crate::render::text(&document, crate::render::Style::Plain);
        let lines: Vec<String> = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        // The bounds are those of R's binom.test, and of 1 - 0.05^(1/n) where nothing was seen.
        for expected in [
            "asgct-safepoint / asgct-event any mismatch 0 (below 5.9) no data 86580 (85960 to 87182) \
             none (exact below 5.9, light: no data; may be chance)",
            "asgct-safepoint / asgct-event unwalkable-caller 0 (below 5.9) no data 86580 (85960 to 87182) \
             none (exact below 5.9, light: no data; may be chance)",
            "asgct-safepoint / asgct-event error -5 in Java, unknown 14 (5.6 to 29) no data 0 (below 25) \
             exact (light: no data, none below 25; may be chance)",
            "loop on JDK 17.0.1+2: exact: 50515 checks of asgct-safepoint; light: 0 checks of asgct-safepoint; \
             none: 12131 checks of asgct-event",
        ] {
            assert!(
                lines.iter().any(|line| line == expected),
                "{expected}\n{text}"
            );
        }
        let one_kind = Report {
            runs: report.runs[..1].to_vec(),
            ..report
        };
        assert!(sections(&one_kind).next().is_none());
    }
}
