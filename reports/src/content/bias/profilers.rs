//! The comparison that a performance engineer wants before trusting a profile: of each profiler what it lost, what was
//! false, and which methods it counts falsely, in a sentence.

use super::super::names;
use super::rows::{Row, short};
use crate::model::Kind::{Numbers, Words};
use crate::model::{Block, Cell, Room, Section, Table, Tone};
use oracle::bias::{Estimate, MethodBias, OTHERS, Sampler, Summary};
use oracle::report::{Report, Run};
use oracle::{Layer, When};

/// How many methods a sentence names.
const NAMED: usize = 3;

/// All profilers of all runs. A terminal shows them where the JVM's own samplers are judged: otherwise the report is
/// about stacks, and not about profiles.
pub(super) fn section(report: &Report, rows: &[Row<'_>]) -> Section {
    let asks_jvm = |layer: &Layer| layer.row().when == When::Request;
    let layers = report.layers.iter().map(|counts| &counts.layer);
    let room = if layers.chain(&report.required).any(asks_jvm) {
        Room::Terminal
    } else {
        Room::Page
    };
    let mut blocks = vec![Block::Table(table(rows))];
    blocks.extend(rows.iter().map(|row| Block::Note(sentence(row))));
    Section {
        id: "profilers",
        title: "What profiles are worth",
        room,
        blocks,
    }
}

fn table(rows: &[Row<'_>]) -> Table {
    let mut table = Table::new([
        ("run", Words),
        ("profiler", Words),
        ("asked", Numbers),
        ("no answer", Words),
        ("top unknown", Words),
        ("not judged", Words),
        ("false stacks", Words),
        ("other method", Words),
        ("in windows", Words),
        ("overlap", Words),
        ("of stacks", Words),
        ("truly hottest is", Words),
    ]);
    for Row {
        run,
        sampler,
        summary,
    } in rows
    {
        let Summary {
            instants,
            answered,
            unsure,
            unjudged,
            ..
        } = *summary;
        let silent = instants - answered - unsure - unjudged;
        let hottest = match summary.hottest_rank {
            None => "never named".to_owned(),
            Some(rank) => format!("number {rank}"),
        };
        let overlap = summary
            .overlap
            .map(|share| format!("{:.2} %", 100.0 * share));
        let cells = vec![
            Cell::text(run.title()),
            Cell::text(names::short(run, *sampler)),
            Cell::Count(instants),
            Cell::text(share(silent, instants)),
            Cell::text(share(unsure, instants)),
            Cell::text(share(unjudged, instants)),
            Cell::text(false_stacks(run, *sampler)),
            Cell::text(share(summary.renamed, answered)),
            Cell::text(share(summary.windows, answered)),
            Cell::text(overlap.unwrap_or_else(|| "no data".to_owned())),
            Cell::text(of_stacks(run, *sampler)),
            Cell::text(hottest),
        ];
        table.push(Tone::Plain, cells);
    }
    table
}

/// A share in words.
fn share(part: u64, whole: u64) -> String {
    match whole {
        0 => "no data".to_owned(),
        _ => format!("{:.2} %", 100.0 * part as f64 / whole as f64),
    }
}

/// The overlap of the profiles of whole stacks.
fn of_stacks(run: &Run, sampler: Sampler) -> String {
    let stacks = run.bias_stacks.get(&sampler);
    let overlap = stacks.and_then(|stacks| stacks.overlap);
    overlap.map_or_else(
        || "no data".to_owned(),
        |share| format!("{:.2} %", 100.0 * share),
    )
}

/// The share of false stacks among the judged ones.
fn false_stacks(run: &Run, sampler: Sampler) -> String {
    let Sampler::Walker(layer) = sampler else {
        return "not judged".to_owned();
    };
    let counts = run.layers.iter().find(|counts| counts.layer == layer);
    counts.map_or_else(
        || "no data".to_owned(),
        |counts| {
            let tally = counts.tally();
            share(tally.mismatches(), tally.decided())
        },
    )
}

/// What a profile of the sampler counts falsely.
fn sentence(row: &Row<'_>) -> String {
    let (run, title) = (row.run.title(), names::of_sampler(row.run, row.sampler));
    let summary = &row.summary;
    if summary.answered == 0 {
        return format!("{run}: {title} gave no profile");
    }
    let shown = summary.methods.iter().filter(|of| is_shown(of));
    let (misnamed, uneven): (Vec<_>, Vec<_>) = shown.partition(|of| of.is_misnamed);
    let told = match (misnamed.is_empty(), uneven.is_empty()) {
        (true, true) if summary.is_biased() => {
            "is biased, but the sum is certain for no method".into()
        }
        (true, true) => format!("counts no method falsely beyond chance{}", seen(summary)),
        (true, false) => format!(
            "shows no method falsely beyond chance, but loses samples unevenly: {}",
            list(uneven, summary)
        ),
        (false, true) => list(misnamed, summary),
        (false, false) => format!(
            "{}; it loses samples unevenly: {}",
            list(misnamed, summary),
            list(uneven, summary)
        ),
    };
    format!("{run}: a profile of {title} {told}")
}

/// The methods with the largest bias, and the number of the others.
fn list(mut methods: Vec<&MethodBias>, summary: &Summary) -> String {
    methods.sort_by(|a, b| b.total.value.abs().total_cmp(&a.total.value.abs()));
    let parts = methods.iter().take(NAMED).map(|of| part(of, summary));
    let further = methods.len().saturating_sub(NAMED);
    let further = (further > 0).then(|| format!("and {further} further methods"));
    parts.chain(further).collect::<Vec<_>>().join(", ")
}

/// How small a bias these answers would have shown.
fn seen(summary: &Summary) -> String {
    let seen = summary.hottest().zip(summary.visible());
    seen.map_or_else(String::new, |(hottest, visible)| {
        let (name, percent) = (short(&hottest.name), digits(100.0 * visible));
        format!("; {name} counted {percent} % too often or too rarely would have been seen")
    })
}

/// Whether a sentence may name the method: the bias is certain, so is the sign of the whole, and it is one method.
fn is_shown(of: &MethodBias) -> bool {
    of.is_certain && (of.total.low > 0.0 || of.total.high < 0.0) && of.name != OTHERS
}

/// Such as `over-counts A.b by 7 % (5 to 9)`.
fn part(of: &MethodBias, summary: &Summary) -> String {
    let name = short(&of.name);
    let Some(relative) = of.relative(summary.instants) else {
        let percent = 100.0 * of.claimed as f64 / summary.answered.max(1) as f64;
        return format!(
            "shows {name}, which never ran, in {} % of the samples",
            digits(percent)
        );
    };
    let (verb, [value, low, high]) = match relative {
        Estimate { value, low, high } if value > 0.0 => ("over-counts", [value, low, high]),
        Estimate { value, low, high } => ("under-counts", [-value, -high, -low]),
    };
    let [value, low, high] = [value, low, high].map(|share| digits(100.0 * share));
    format!("{verb} {name} by {value} % ({low} to {high})")
}

/// Two digits, or one behind the point.
fn digits(percent: f64) -> String {
    if percent.abs() >= 10.0 {
        format!("{percent:.0}")
    } else {
        format!("{percent:.1}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::bias::{Claim, Pairs};
    use oracle::report::Exit;

    fn told(pairs: &Pairs) -> String {
        let run = Run::new("p", Exit::Code(0));
        let sampler = Sampler::Walker(Layer::Jfr);
        let summary = Summary::alone(pairs);
        sentence(&Row {
            run: &run,
            sampler,
            summary,
        })
    }

    #[test]
    fn a_sentence_says_what_is_counted_falsely() {
        let mut pairs = Pairs::default();
        assert_eq!(told(&pairs), "p: JFR's execution samples gave no profile");
        pairs.add("A.hot()V", Claim::Same, 5000);
        pairs.add("B.warm()V", Claim::Same, 5000);
        // 4 standard deviations of a share of one half among 10,000 are 4 % of it.
        let honest = "p: a profile of JFR's execution samples counts no method falsely beyond chance; A.hot counted 4.0 % \
                      too often or too rarely would have been seen";
        assert_eq!(told(&pairs), honest);
        pairs.add("A.hot()V", Claim::Named("C.callee()V"), 1000);
        let told = told(&pairs);
        // 1,000 of 6,000 are lost, and the share of the others stays.
        assert!(told.contains("under-counts A.hot by 17 % ("), "{told}");
        assert!(
            told.contains("shows C.callee, which never ran, in 9.1 % of the samples"),
            "{told}"
        );
        assert!(!told.contains("B.warm"), "{told}");
    }

    #[test]
    fn methods_whose_instants_are_answered_more_often_are_over_counted() {
        let mut pairs = Pairs::default();
        pairs.add("A.hot()V", Claim::Same, 5000);
        pairs.add("B.warm()V", Claim::Same, 4000);
        pairs.add("B.warm()V", Claim::Silent, 1000);
        let told = told(&pairs);
        assert!(
            told.contains("shows no method falsely beyond chance, but loses samples unevenly"),
            "{told}"
        );
        // 5,000 of 9,000 in place of 5,000 of 10,000.
        assert!(told.contains("over-counts A.hot by 11 % ("), "{told}");
        assert!(told.contains("under-counts B.warm by 11 % ("), "{told}");
    }
}
