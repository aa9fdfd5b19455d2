//! What the profiles of each profiler are worth.

use super::digest::{Digest, DigestRun};
use super::table::{Column, Table, basis};
use crate::numbers;

pub(super) fn tables(digests: &[Digest]) -> String {
    let columns = Column::of(digests, "results-profiles");
    let mut table = Table::new([
        "JDK",
        "run",
        "profiler",
        "asked:",
        "not answered:",
        "false stacks:",
        "other method:",
        "overlap:",
        "of stacks:",
        "hottest is",
        "biased",
    ]);
    for column in &columns {
        for run in column.runs() {
            for profile in &run.profiles {
                let (asked, answered) = (profile.asked, profile.answered);
                let overlap = |share: Option<f64>| share.map_or("no data".into(), numbers::tenths);
                table.row([
                    column.jdk.to_owned(),
                    run.axes.values().cloned().collect::<Vec<_>>().join(", "),
                    format!("`{}`", profile.profiler),
                    numbers::count(asked),
                    numbers::part(asked - answered, asked),
                    false_stacks(run, &profile.profiler),
                    numbers::part(profile.renamed, answered),
                    overlap(profile.overlap),
                    overlap(profile.overlap_of_stacks),
                    match profile.hottest_rank {
                        Some(rank) => format!("number {rank}"),
                        None => "never named".into(),
                    },
                    if profile.is_biased {
                        "yes"
                    } else {
                        "not beyond chance"
                    }
                    .into(),
                ]);
            }
        }
    }
    format!(
        "{}\nThe program is all fixtures with exact hooks. [profile.md](../guide/profile.md#read-the-answer) explains the columns,\nand [bias.md](../bias.md#what-is-compared) what is compared.\n\n{}",
        basis(&columns, "profiles"),
        table.markdown()
    )
}

/// The share of false stacks among those that were judged.
fn false_stacks(run: &DigestRun, profiler: &str) -> String {
    let counts = run
        .layers
        .iter()
        .find(|counts| counts.layer.name() == profiler);
    counts.map_or("not judged".into(), |counts| {
        let tally = counts.tally();
        numbers::part(tally.mismatches(), tally.decided())
    })
}
