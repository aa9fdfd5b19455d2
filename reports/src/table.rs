//! A table for a terminal or a log: one line for each layer and run that `grep` finds, the
//! sums, and what a reader should look at next.

use oracle::record::Mismatch;
use oracle::report::{Exit, LayerCounts, Report, Run};
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

/// Renders a report; `source` is where the reader finds more.
pub fn render(report: &Report, source: &str) -> String {
    let mut out = String::new();
    let jdk = &report.jdk;
    let name = [&jdk.vm, &jdk.version, &jdk.vendor]
        .map(String::as_str)
        .join(" ");
    let _ = writeln!(out, "JDK {} ({})\n", jdk.home, name.trim());
    let mut rows = vec![HEAD.map(String::from)];
    for run in &report.runs {
        rows.extend(run.layers.iter().map(|counts| row(&run.title(), counts)));
    }
    rows.extend(report.layers.iter().map(|counts| row("sum", counts)));
    // A table of nothing only hides why there is nothing.
    if report.layers.iter().any(|counts| counts.checks > 0) {
        align(&mut out, &rows);
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
    let _ = writeln!(out, "\nverdict: {}", finding.outcome);
    for reason in finding.reasons {
        let _ = writeln!(out, "  {reason}");
    }
    out
}

fn row(run: &str, counts: &LayerCounts) -> [String; 12] {
    let rate = |rate: Option<f64>| match rate {
        None => "no data".into(),
        Some(0.0) => "0".into(),
        Some(rate) => format!("{rate:.2e}"),
    };
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
fn align(out: &mut String, rows: &[[String; 12]]) {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: [usize; 12] = std::array::from_fn(width);
    for row in rows {
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let _ = match column {
                0 => write!(out, "{cell:width$}"),
                1 => write!(out, "  {cell:width$}"),
                _ => write!(out, "  {cell:>width$}"),
            };
        }
        out.push('\n');
    }
}

/// How a run ended, in a few words.
pub(crate) fn exit(run: &Run) -> String {
    match &run.exit {
        Exit::Code(code) => format!("exit {code}"),
        Exit::Signal(signal) => format!("killed by signal {signal}"),
        Exit::Deadline => "killed at its deadline".into(),
        Exit::Interrupted => "interrupted".into(),
        Exit::NotStarted(why) => format!("not started: {why}"),
    }
}

fn describe(out: &mut String, run: &Run) {
    let exit = exit(run);
    let rewriting = &run.rewriting;
    let _ = writeln!(
        out,
        "{}: {exit} after {:.1} s, seed {}, {} methods hooked in {} classes",
        run.title(),
        run.wall_s,
        run.seed,
        rewriting.methods_hooked,
        rewriting.classes_hooked
    );
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
    for (kind, n) in kinds.iter().take(SHOWN) {
        let _ = writeln!(out, "  {n} x {kind}");
    }
    if kinds.len() > SHOWN {
        let _ = writeln!(out, "  and {} other kinds", kinds.len() - SHOWN);
    }
}
