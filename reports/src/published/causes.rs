//! What each JDK gets wrong: cause by cause, with and without hooks.

use super::digest::{Digest, DigestRun};
use super::table::{Column, Table, basis, rate};
use crate::numbers;
use hotspot::causes::{CAUSES, Cause};
use hotspot::walkers::WALKERS;
use oracle::record::CauseName;
use oracle::tally::Tally;
use oracle::{LayerRow, ProgramKind, Verdict, When};
use std::collections::{BTreeMap, BTreeSet};

/// The scenario of the results.
const SCENARIO: &str = "results-causes";

/// The walker that is judged.
pub(super) const WALKER: &str = "asgct";

/// The files of the fixtures.
#[derive(Clone, Debug, Default)]
pub struct Sources(BTreeMap<String, String>);

impl Sources {
    /// The files that the catalogue of fixtures names, `Catalogue.java`: lines such as
    /// `DEFAULT.put("fresh-code", FreshCode::new);`.
    pub fn new(catalogue: &str) -> Sources {
        let entry = |line: &str| {
            let (_, rest) = line.split_once(".put(\"")?;
            let (fixture, made) = rest.split_once("\", ")?;
            let made = made.trim_start_matches("() -> new ");
            let class = made.split(|c: char| !c.is_alphanumeric()).next()?;
            Some((fixture.to_owned(), format!("{class}.java")))
        };
        Sources(catalogue.lines().filter_map(entry).collect())
    }

    /// A link to the fixture, from `docs/results` on.
    fn link(&self, fixture: &str) -> String {
        match self.0.get(fixture) {
            Some(file) => format!(
                "[`{fixture}`](../../java-fixtures/java/fixtures/stackwitness/fixtures/{file})"
            ),
            None => format!("`{fixture}`"),
        }
    }
}

/// A program of the scenario, and the instants at which the walker is asked there.
struct Place {
    title: &'static str,
    /// Name of the program.
    run: &'static str,
    program: ProgramKind,
    when: When,
}

const PLACES: [Place; 6] = [
    Place {
        title: "Unmodified fixtures, at any instant",
        run: "fixtures-plain",
        program: ProgramKind::Unmodified,
        when: When::Signal,
    },
    Place {
        title: "Unmodified fixtures, in events",
        run: "fixtures-plain",
        program: ProgramKind::Unmodified,
        when: When::Event,
    },
    Place {
        title: "Fixtures with exact hooks, at any instant",
        run: "fixtures",
        program: ProgramKind::Hooked,
        when: When::Signal,
    },
    Place {
        title: "Fixtures with light hooks, at any instant",
        run: "fixtures-light",
        program: ProgramKind::Hooked,
        when: When::Signal,
    },
    Place {
        title: "Virtual threads that yield many frames deep (exact hooks), at any instant",
        run: "virtual-threads",
        program: ProgramKind::Hooked,
        when: When::Signal,
    },
    Place {
        title: "Unmodified upcalls of the Foreign Function and Memory API, at any instant",
        run: "foreign-upcalls",
        program: ProgramKind::Unmodified,
        when: When::Signal,
    },
];

impl Place {
    fn is_of(&self, row: &LayerRow) -> bool {
        row.walker == Some(WALKER) && row.program == self.program && row.when == self.when
    }

    fn has(&self, run: &DigestRun) -> bool {
        run.program == self.run
    }
}

pub(super) fn tables(digests: &[Digest], sources: &Sources) -> String {
    let columns = Column::newest(digests, SCENARIO);
    let mut text = basis(&columns, "causes");
    text += "\nA rate is a share of the judged stacks, with its 95 % interval; \"none\" has its upper bound. Checks of one program\ndepend on each other, so true intervals are wider. `stackwitness run --scenario causes` runs the programs in the last column.\n";
    for place in PLACES {
        text += &format!(
            "\n## {}\n\n{}",
            place.title,
            table(&columns, &place, sources)
        );
    }
    text += "\n## GetStackTrace\n\n";
    text += &get_stack_trace(&columns);
    text
}

fn table(columns: &[Column<'_>], place: &Place, sources: &Sources) -> String {
    let jdks = columns.iter().map(|column| column.jdk.to_owned() + ":");
    let first = ["seen".to_owned(), "means".to_owned()];
    let names = first.into_iter().chain(jdks).chain(["try it".to_owned()]);
    let mut table = Table::new(names);
    let mut row = |seen: String, means: String, cells: Vec<String>, program: String| {
        table.row([seen, means].into_iter().chain(cells).chain([program]));
    };
    let is_of = |of: &LayerRow| place.is_of(of);
    let tallies: Vec<_> = columns
        .iter()
        .map(|column| column.tally(|run| place.has(run), is_of))
        .collect();
    let all = |count: fn(&Tally) -> u64| {
        tallies
            .iter()
            .map(|tally| rate(count(tally), tally.decided()))
            .collect()
    };
    let judged = tallies.iter().map(|tally| numbers::count(tally.decided()));
    row(
        "judged stacks".into(),
        String::new(),
        judged.collect(),
        String::new(),
    );
    let no_program = String::new;
    row(
        "**false stacks**".into(),
        "cut short or wrong".into(),
        all(|tally| tally.mismatches()),
        no_program(),
    );
    for cause in CAUSES {
        let counts = counts(columns, place, cause.name, false);
        if counts.iter().all(|&count| count == 0) {
            continue;
        }
        let cells = columns.iter().zip(&tallies).zip(&counts);
        let cells = cells.map(|((column, tally), &count)| {
            if count == 0 && column.feature < cause.since {
                "–".into()
            } else {
                rate(count, tally.decided())
            }
        });
        row(
            link(cause),
            cause.meaning.into(),
            cells.collect(),
            programs(cause, sources),
        );
    }
    let rest = counts(columns, place, CauseName::NOT_LOOKED_AT, false);
    if rest.iter().any(|&count| count > 0) {
        let cells = rest.iter().zip(&tallies);
        let cells = cells.map(|(&count, tally)| rate(count, tally.decided()));
        let means = "there was no time to look for a cause";
        row(
            "not looked at".into(),
            means.into(),
            cells.collect(),
            no_program(),
        );
    }
    row(
        "imprecise stacks".into(),
        "inlined frames of a neighbouring debug info record ([`no-record`](../findings.md#no-record))".into(),
        all(|tally| tally.imprecise),
        no_program(),
    );
    let codes: BTreeSet<i32> = tallies
        .iter()
        .flat_map(|tally| tally.error.keys().copied())
        .collect();
    for code in codes.into_iter().rev() {
        // Checks whose answer was lost say nothing of codes.
        let cells = tallies.iter().map(|tally| {
            let count = tally.error.get(&code).copied().unwrap_or(0);
            rate(count, tally.decided() + tally.errors())
        });
        row(
            format!("error {code}"),
            meaning(code).into(),
            cells.collect(),
            no_program(),
        );
    }
    table.markdown()
}

/// Since when each cause is there: all updates, and all places in one.
pub(super) fn updates(digests: &[Digest]) -> String {
    let columns = Column::of(digests, SCENARIO);
    let jdks = columns.iter().map(|column| column.jdk.to_owned() + ":");
    let mut table = Table::new(["false stacks".to_owned()].into_iter().chain(jdks));
    let judged: Vec<u64> = columns
        .iter()
        .map(|column| {
            let tallies = PLACES.iter().map(|place| {
                column
                    .tally(|run| place.has(run), |of| place.is_of(of))
                    .decided()
            });
            tallies.sum()
        })
        .collect();
    let counts_of = |cause: &str| -> Vec<u64> {
        let of_places = PLACES
            .iter()
            .map(|place| counts(&columns, place, cause, false));
        of_places.fold(vec![0; columns.len()], |sums, counts| {
            sums.iter()
                .zip(counts)
                .map(|(sum, count)| sum + count)
                .collect()
        })
    };
    for cause in CAUSES {
        let counts = counts_of(cause.name);
        if counts.iter().all(|&count| count == 0) {
            continue;
        }
        let cells = columns.iter().zip(&counts).map(|(column, &count)| {
            if count == 0 && column.feature < cause.since {
                "–".into()
            } else {
                numbers::count(count)
            }
        });
        table.row([link(cause)].into_iter().chain(cells));
    }
    let cells = judged.iter().map(|&count| numbers::count(count));
    table.row(["of judged stacks".to_owned()].into_iter().chain(cells));
    basis(&columns, "causes") + "\n" + &table.markdown()
}

/// The count of a cause in each column: of mismatches, or of imprecise stacks.
fn counts(columns: &[Column<'_>], place: &Place, cause: &str, imprecise: bool) -> Vec<u64> {
    let of_column = |column: &Column<'_>| {
        let runs = column.runs().filter(|run| place.has(run));
        let kinds = runs.flat_map(|run| &run.kinds).filter(|kind| {
            let is_cause = kind
                .cause
                .as_ref()
                .is_some_and(|name| name.as_str() == cause);
            let is_imprecise = kind.verdict == Verdict::Imprecise;
            is_cause && is_imprecise == imprecise && place.is_of(kind.layer.row())
        });
        kinds.map(|kind| kind.count).sum()
    };
    columns.iter().map(of_column).collect()
}

/// A link to the section of a cause, from `docs/results` on.
pub(super) fn link(cause: &Cause) -> String {
    format!("[`{name}`](../findings.md#{name})", name = cause.name)
}

/// Links to the programs that show a cause.
fn programs(cause: &Cause, sources: &Sources) -> String {
    let fixtures: BTreeSet<&str> = cause
        .programs()
        .iter()
        .map(|program| program.fixture)
        .collect();
    let links: Vec<_> = fixtures
        .into_iter()
        .map(|name| sources.link(name))
        .collect();
    links.join(", ")
}

fn meaning(code: i32) -> &'static str {
    let walker = WALKERS.iter().find(|walker| walker.name == WALKER);
    let codes = walker.map_or(&[][..], |walker| walker.codes);
    codes
        .iter()
        .find(|known| known.code == code)
        .map_or("", |known| known.meaning)
}

/// GetStackTrace and its kin: the layers on which the others rest.
fn get_stack_trace(columns: &[Column<'_>]) -> String {
    let jdks = columns.iter().map(|column| column.jdk.to_owned() + ":");
    let mut table = Table::new(["false stacks of".to_owned()].into_iter().chain(jdks));
    for (title, walker) in [
        ("GetStackTrace", "gst"),
        ("GetThreadListStackTraces", "gst-list"),
        ("GetAllStackTraces", "gst-all"),
    ] {
        let cells = columns.iter().map(|column| {
            let sum = column.tally(|_| true, |row| row.walker == Some(walker));
            let (bad, judged) = (sum.mismatches(), sum.decided());
            format!("{} of {}", numbers::count(bad), numbers::count(judged))
        });
        table.row([title.to_owned()].into_iter().chain(cells));
    }
    table.markdown()
}
