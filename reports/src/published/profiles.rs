//! What the profiles of each profiler are worth.

use super::digest::{Digest, DigestRun, ProfileDigest};
use super::table::{Column, Table, basis};
use crate::numbers;
use oracle::tally::Tally;
use std::collections::BTreeMap;

/// A profiler in one kind of run: `("jfr", "jfr")`, `("signals", "safepoint")`.
type Way = (String, String);

/// The profile of one program.
struct Profiled<'a> {
    run: &'a DigestRun,
    profile: &'a ProfileDigest,
}

pub(super) fn tables(digests: &[Digest]) -> String {
    let columns = Column::of(digests, "results-profiles");
    format!(
        "{}\nAll programs have exact hooks. [profile.md](../guide/profile.md#read-the-answer) explains the columns, and\n[bias.md](../bias.md#what-is-compared) what is compared. \"To\" stands between the lowest and the highest value of a program.\n\"Beyond chance\" is how much more a profile of methods and the true one differ than two honest ones of as many answers: with\nfew answers chance lowers the overlap, too.\n\n{}\n### By program\n\nThe overlap of the profile of methods and the true one, and in brackets the share of the instants without an answer.\n\n{}",
        basis(&columns, "profiles"),
        over_programs(&columns),
        by_program(&columns)
    )
}

/// A row for each JDK and profiler, over all programs.
fn over_programs(columns: &[Column<'_>]) -> String {
    let mut table = Table::new([
        "JDK",
        "run",
        "profiler",
        "programs:",
        "asked:",
        "not answered:",
        "false stacks:",
        "other method:",
        "overlap:",
        "beyond chance:",
        "of stacks:",
        "hottest is number 1:",
        "biased:",
    ]);
    for column in columns {
        for ((run, profiler), of) in ways(column) {
            let number = of.len();
            let count =
                |is: fn(&ProfileDigest) -> bool| of.iter().filter(|one| is(one.profile)).count();
            table.row([
                column.jdk.to_owned(),
                run,
                format!("`{profiler}`"),
                number.to_string(),
                numbers::count(of.iter().map(|one| one.profile.asked).sum()),
                range(of.iter().filter_map(|one| lost(one.profile))),
                false_stacks(&of, &profiler),
                range(of.iter().filter_map(|one| {
                    let profile = one.profile;
                    share(profile.renamed, profile.answered)
                })),
                range(of.iter().filter_map(|one| one.profile.overlap)),
                range(of.iter().filter_map(|one| one.profile.tvd_excess)),
                range(of.iter().filter_map(|one| one.profile.overlap_of_stacks)),
                format!(
                    "{} of {number}",
                    count(|profile| profile.hottest_rank == Some(1))
                ),
                format!("{} of {number}", count(|profile| profile.is_biased)),
            ]);
        }
    }
    table.markdown()
}

/// A row for each program and profiler, a column for each JDK.
fn by_program(columns: &[Column<'_>]) -> String {
    let jdks = columns.iter().map(|column| format!("{}:", column.jdk));
    let names = ["program", "run", "profiler"].map(str::to_owned);
    let mut table = Table::new(names.into_iter().chain(jdks));
    let mut rows: BTreeMap<(&str, Way), Vec<String>> = BTreeMap::new();
    for (index, column) in columns.iter().enumerate() {
        for (way, of) in ways(column) {
            for Profiled { run, profile } in of {
                let cells = rows
                    .entry((&run.program, way.clone()))
                    .or_insert_with(|| vec!["-".into(); columns.len()]);
                let overlap = profile.overlap.map_or("no data".into(), numbers::tenths);
                let lost = lost(profile).map_or("no data".into(), numbers::tenths);
                cells[index] = format!("{overlap} ({lost})");
            }
        }
    }
    for ((program, (run, profiler)), cells) in rows {
        let names = [program.to_owned(), run, format!("`{profiler}`")];
        table.row(names.into_iter().chain(cells));
    }
    table.markdown()
}

/// The profiles of each profiler, one of each program.
fn ways<'a>(column: &Column<'a>) -> BTreeMap<Way, Vec<Profiled<'a>>> {
    let mut ways: BTreeMap<Way, Vec<Profiled>> = BTreeMap::new();
    for run in column.runs() {
        let axes: Vec<String> = run.axes.values().cloned().collect();
        for profile in &run.profiles {
            let way = (axes.join(", "), profile.profiler.clone());
            ways.entry(way).or_default().push(Profiled { run, profile });
        }
    }
    ways
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The share of the instants without an answer.
fn lost(profile: &ProfileDigest) -> Option<f64> {
    share(profile.asked - profile.answered, profile.asked)
}

/// The lowest and the highest of shares.
fn range(shares: impl Iterator<Item = f64>) -> String {
    let shares: Vec<f64> = shares.collect();
    let lowest = shares.iter().copied().reduce(f64::min);
    let highest = shares.iter().copied().reduce(f64::max);
    let Some((lowest, highest)) = lowest.zip(highest) else {
        return "no data".into();
    };
    let (lowest, highest) = (numbers::tenths(lowest), numbers::tenths(highest));
    if lowest == highest {
        return highest;
    }
    format!("{} to {highest}", lowest.trim_end_matches(" %"))
}

/// The share of false stacks among those that were judged, over all programs.
fn false_stacks(of: &[Profiled<'_>], profiler: &str) -> String {
    let layers = of.iter().flat_map(|one| &one.run.layers);
    let counts = layers.filter(|counts| counts.layer.name() == profiler);
    let tallies: Vec<Tally> = counts.map(|counts| counts.tally()).collect();
    if tallies.is_empty() {
        return "not judged".into();
    }
    let sum = |number: fn(&Tally) -> u64| tallies.iter().map(number).sum();
    numbers::part(sum(Tally::mismatches), sum(Tally::decided))
}
