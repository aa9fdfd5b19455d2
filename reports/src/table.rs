//! A table for a terminal or a log: one line for each layer and run that `grep` finds, the
//! sums, and what a reader should look at next.

use crate::number::rate;
use oracle::budget::Standing;
use oracle::outcome::Outcome;
use oracle::record::Mismatch;
use oracle::report::{Exit, Jdk, LayerCounts, Report, Run};
use std::collections::BTreeMap;
use std::fmt::Write;

/// How many kinds of mismatches are named.
const SHOWN: usize = 5;

const HEAD: [&str; 12] = [
    "run",
    "layer",
    "checks",
    "match",
    "window",
    "error",
    "truncated",
    "wrong",
    "unverifiable",
    "dropped",
    "rate",
    "upper95",
];

/// Whether what matters is coloured.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Style {
    /// For files and pipes.
    Plain,
    /// For a terminal.
    Coloured,
}

impl Style {
    fn paint(self, colour: Option<&str>, text: &str) -> String {
        match (self, colour) {
            (Style::Coloured, Some(colour)) => format!("\x1b[{colour}m{text}\x1b[0m"),
            _ => text.into(),
        }
    }
}

const RED: &str = "31";
const GREEN: &str = "32";

/// Renders a report; `source` is where the reader finds more.
pub fn render(report: &Report, source: &str, style: Style) -> String {
    let mut out = String::new();
    for jdk in jdks(report) {
        let name = [&jdk.vm, &jdk.version, &jdk.vendor]
            .map(String::as_str)
            .join(" ");
        let _ = writeln!(out, "JDK {} ({})", jdk.home, name.trim());
    }
    out.push('\n');
    let colour = |counts: &LayerCounts| match report.budget.standing(counts.layer, &counts.tally())
    {
        Standing::Over => Some(RED),
        _ => None,
    };
    let mut rows = vec![(None, HEAD.map(String::from))];
    for run in &report.runs {
        rows.extend(
            run.layers
                .iter()
                .map(|counts| (colour(counts), row(&run.title(), counts))),
        );
    }
    rows.extend(
        report
            .layers
            .iter()
            .map(|counts| (colour(counts), row("sum", counts))),
    );
    // A table of nothing only hides why there is nothing.
    if report.layers.iter().any(|counts| counts.checks > 0) {
        for (colour, line) in aligned(&rows) {
            out += &style.paint(colour, &line);
            out.push('\n');
        }
        out.push('\n');
    }
    for run in &report.runs {
        describe(&mut out, run);
    }
    for skipped in &report.skipped {
        let _ = writeln!(out, "{}: skipped: {}", skipped.scenario, skipped.why);
    }
    if !report.mismatches.is_empty() {
        out.push('\n');
        mismatches(&mut out, &report.mismatches, source);
    }
    let finding = report.finding();
    let colour = if finding.outcome == Outcome::Within {
        GREEN
    } else {
        RED
    };
    let _ = writeln!(
        out,
        "\nverdict: {}",
        style.paint(Some(colour), &finding.outcome.to_string())
    );
    for reason in finding.reasons {
        let _ = writeln!(out, "  {reason}");
    }
    out
}

/// The JDKs of all runs, each once.
pub(crate) fn jdks(report: &Report) -> Vec<&Jdk> {
    let mut jdks: Vec<&Jdk> = vec![];
    for jdk in report.runs.iter().filter_map(|run| run.jdk.as_ref()) {
        if !jdks.contains(&jdk) {
            jdks.push(jdk);
        }
    }
    if jdks.is_empty() {
        vec![&report.jdk]
    } else {
        jdks
    }
}

fn row(run: &str, counts: &LayerCounts) -> [String; 12] {
    [
        run.into(),
        counts.layer.to_string(),
        counts.checks.to_string(),
        counts.matches.to_string(),
        counts.window.to_string(),
        counts.error.values().sum::<u64>().to_string(),
        counts.truncated.to_string(),
        counts.wrong.to_string(),
        counts.unverifiable.to_string(),
        counts.dropped.to_string(),
        rate(counts.mismatch_rate),
        rate(counts.mismatch_upper95),
    ]
}

/// The first two columns to the left, numbers to the right.
fn aligned<C: Copy>(rows: &[(C, [String; 12])]) -> Vec<(C, String)> {
    let width = |column: usize| {
        rows.iter()
            .map(|(_, row)| row[column].len())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; 12] = std::array::from_fn(width);
    let line = |row: &[String; 12]| {
        let cells =
            row.iter()
                .zip(widths)
                .enumerate()
                .map(|(column, (cell, width))| match column {
                    0 | 1 => format!("{cell:width$}"),
                    _ => format!("{cell:>width$}"),
                });
        cells.collect::<Vec<_>>().join("  ")
    };
    rows.iter()
        .map(|(colour, row)| (*colour, line(row)))
        .collect()
}

/// How much of the program has hooks, in a few words.
pub(crate) fn hooked(run: &Run) -> String {
    match &run.rewriting {
        Some(rewriting) => format!(
            "{} methods hooked in {} classes",
            rewriting.methods_hooked, rewriting.classes_hooked
        ),
        None => "unknown how many methods were hooked".into(),
    }
}

/// How a run ended, in a few words.
pub(crate) fn exit(run: &Run) -> String {
    match &run.exit {
        Exit::Code(code) => format!("exit {code}"),
        Exit::Signal(signal) => format!("killed by signal {signal}"),
        Exit::Deadline => "over its deadline".into(),
        Exit::Interrupted => "interrupted".into(),
        Exit::NotStarted(why) => format!("not started: {why}"),
    }
}

fn describe(out: &mut String, run: &Run) {
    let exit = exit(run);
    let _ = writeln!(
        out,
        "{}: {exit} after {:.1} s, seed {}, {}",
        run.title(),
        run.wall_s,
        run.seed,
        hooked(run)
    );
    if let Some(cost) = crate::cost::line(run) {
        let _ = writeln!(out, "  {cost}");
    }
    let rewriting = run.rewriting.clone().unwrap_or_default();
    for (what, left) in [
        ("classes", &rewriting.classes_left),
        ("methods", &rewriting.methods_left),
    ] {
        if !left.is_empty() {
            let reasons: Vec<_> = left
                .iter()
                .map(|(reason, n)| format!("{n} {reason}"))
                .collect();
            let _ = writeln!(out, "  {what} left alone: {}", reasons.join(", "));
        }
    }
    if rewriting.repairs > 0 {
        let _ = writeln!(
            out,
            "  trace stacks set right after an overflow: {}",
            rewriting.repairs
        );
    }
    for note in &run.notes {
        let _ = writeln!(out, "  {note}");
    }
    for counts in &run.layers {
        if !counts.error.is_empty() {
            let codes: Vec<_> = counts
                .error
                .iter()
                .rev()
                .map(|(code, n)| format!("{code}: {n}"))
                .collect();
            let _ = writeln!(
                out,
                "  {} errors by code: {}",
                counts.layer,
                codes.join(", ")
            );
        }
    }
}

fn mismatches(out: &mut String, all: &[Mismatch], source: &str) {
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for mismatch in all {
        *kinds.entry(mismatch.signature()).or_default() += 1;
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let _ = writeln!(
        out,
        "mismatches written down, with both stacks, in {source}:"
    );
    for (layer, cause, n) in crate::causes::counted(all) {
        let meaning = crate::causes::meaning(cause);
        let _ = writeln!(out, "  {n} x {layer} {cause}: {meaning}");
    }
    let _ = writeln!(out, "the same by place:");
    for (kind, n) in kinds.iter().take(SHOWN) {
        let _ = writeln!(out, "  {n} x {kind}");
    }
    if kinds.len() > SHOWN {
        let _ = writeln!(out, "  and {} other kinds", kinds.len() - SHOWN);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_bit_of_everything() {
        insta::assert_snapshot!(super::render(
            &crate::sample::report(),
            "report.json",
            super::Style::Plain
        ));
    }
}
