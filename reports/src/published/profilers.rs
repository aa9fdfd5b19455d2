//! How often the stacks of profilers and of the JVM's own walkers are true, beside each other.

use super::digest::{Digest, DigestRun, ProfileDigest};
use super::table::{Column, Table, basis, made};
use crate::content::is_foundation;
use crate::numbers;
use oracle::record::JoinCounts;
use oracle::report::LayerCounts;
use oracle::{Layer, Verdict};
use std::collections::BTreeMap;

pub(super) fn tables(digests: &[Digest]) -> String {
    let (known, others) = (table(digests, "profilers"), table(digests, "datadog"));
    let (made, basis) = (made(&known.0), basis(&others.0, "datadog"));
    format!(
        "Runs of [profilers.toml](scenarios/profilers.toml):\n\n{}\nThe program is all fixtures with exact hooks. \"Asked\" are the samples of threads with Java frames, by the profiler's own timer.\n\"Silently false\" is the share of false or cut stacks without an error frame among the stacks that were decided (CPython's oracle\ncalls it *impossible %*); \"said\" are those that end in an error frame of the profiler. \"Not decided\", among all, are samples\nthat were not joined, stacks that end in such a frame and are right above it, stacks with methods of classes that were unloaded\nbefore the run's end, and windows of the hooks in which class files do not show the call. \"tvd_excess\" is the total variation of\nthe profiles of methods beyond chance.\n\n{}\n### Datadog's profiler\n\n{}\n{}",
        made, known.1, basis, others.1
    )
}

/// The reports of a scenario, and a row for each layer of their runs.
fn table<'d>(digests: &'d [Digest], scenario: &str) -> (Vec<Column<'d>>, String) {
    let columns = Column::of(digests, &format!("results-{scenario}"));
    let mut table = Table::new([
        "JDK",
        "run",
        "layer",
        "asked:",
        "joined:",
        "no answer:",
        "said:",
        "silently false:",
        "causes",
        "imprecise:",
        "not decided:",
        "bias",
        "tvd_excess:",
    ]);
    for column in &columns {
        for run in column.runs() {
            let judged = run.layers.iter().filter(|of| !is_foundation(of.layer));
            for counts in judged {
                table.row(row(column.jdk, run, counts));
            }
        }
    }
    let rows = table.markdown();
    (columns, rows)
}

fn row(jdk: &str, run: &DigestRun, counts: &LayerCounts) -> [String; 13] {
    let tally = counts.tally();
    let joined = run.joined.iter().find(|of| of.layer == counts.layer);
    let profile = run
        .profiles
        .iter()
        .find(|of| of.profiler == counts.layer.name());
    let asked = tally.checks();
    let share = |joined: &JoinCounts| numbers::part(joined.joined, joined.events);
    let said = |joined: &JoinCounts| numbers::part(joined.said, joined.events);
    let undecided = tally.window + tally.unverifiable + tally.drops();
    [
        jdk.to_owned(),
        run.axes.values().cloned().collect::<Vec<_>>().join(", "),
        format!("`{}`", counts.layer.name()),
        numbers::count(asked),
        joined.map_or_else(dash, share),
        numbers::part(tally.errors(), asked),
        joined.filter(|of| of.said > 0).map_or_else(dash, said),
        numbers::part(tally.mismatches(), tally.decided()),
        causes(run, counts.layer),
        numbers::part(tally.imprecise, asked),
        numbers::part(undecided, asked),
        profile.map_or_else(dash, bias),
        profile
            .and_then(|of| of.tvd_excess)
            .map_or_else(dash, numbers::tenths),
    ]
}

fn dash() -> String {
    "-".into()
}

fn bias(profile: &ProfileDigest) -> String {
    let text = if profile.is_biased {
        "yes"
    } else {
        "not beyond chance"
    };
    text.into()
}

/// The causes of the false stacks of a layer, the most frequent first.
fn causes(run: &DigestRun, layer: Layer) -> String {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    let of_layer = run.kinds.iter().filter(|kind| kind.layer == layer);
    for kind in of_layer.filter(|kind| kind.verdict != Verdict::Imprecise) {
        let cause = kind
            .cause
            .as_ref()
            .map_or("not looked for", |cause| cause.as_str());
        *sums.entry(cause).or_default() += kind.count;
    }
    let mut sums: Vec<(&str, u64)> = sums.into_iter().collect();
    sums.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let texts: Vec<String> = sums
        .iter()
        .map(|(cause, count)| format!("{count} {cause}"))
        .collect();
    texts.join(", ")
}
