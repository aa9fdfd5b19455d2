//! Tables in Markdown, and the columns of JDKs.

use super::digest::{Digest, DigestRun};
use crate::numbers;
use oracle::LayerRow;
use oracle::observer::Occurrence;
use oracle::tally::Tally;

/// A table in Markdown.
pub(super) struct Table {
    text: String,
}

impl Table {
    /// A table with these columns. Those that end with `:` have numbers.
    pub(super) fn new<S: AsRef<str>>(columns: impl IntoIterator<Item = S>) -> Table {
        let columns: Vec<String> = columns.into_iter().map(|c| c.as_ref().into()).collect();
        let names = columns.iter().map(|column| column.trim_end_matches(':'));
        let rules = columns
            .iter()
            .map(|column| if column.ends_with(':') { "---:" } else { "---" });
        let rules: Vec<&str> = rules.collect();
        let mut table = Table {
            text: String::new(),
        };
        table.row(names);
        table.row(rules);
        table
    }

    /// Adds a row.
    pub(super) fn row<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.text += "|";
        for cell in cells {
            self.text += " ";
            self.text += &cell.as_ref().replace('|', "\\|");
            self.text += " |";
        }
        self.text += "\n";
    }

    /// Its Markdown.
    pub(super) fn markdown(self) -> String {
        self.text
    }
}

/// All runs of a scenario on one JDK.
pub(super) struct Column<'a> {
    /// The JDK's version.
    pub(super) jdk: &'a str,
    /// Its feature release.
    pub(super) feature: u32,
    digests: Vec<&'a Digest>,
}

impl<'a> Column<'a> {
    /// The runs of the scenario, a column for each JDK, the oldest first.
    pub(super) fn of(digests: &'a [Digest], scenario: &str) -> Vec<Column<'a>> {
        let mut columns: Vec<Column<'a>> = vec![];
        for digest in digests.iter().filter(|digest| digest.scenario == scenario) {
            match columns.iter_mut().find(|known| known.jdk == digest.jdk()) {
                Some(known) => known.digests.push(digest),
                None => columns.push(Column {
                    jdk: digest.jdk(),
                    feature: digest.feature(),
                    digests: vec![digest],
                }),
            }
        }
        columns.sort_by_key(|column| (numbers_of(column.jdk), column.jdk));
        columns
    }

    /// As [`Column::of`], of each feature release the newest update alone.
    pub(super) fn newest(digests: &'a [Digest], scenario: &str) -> Vec<Column<'a>> {
        let mut newest: Vec<Column<'a>> = vec![];
        for column in Column::of(digests, scenario) {
            newest.retain(|older| older.feature != column.feature);
            newest.push(column);
        }
        newest
    }

    /// The digests of this column.
    pub(super) fn digests(&self) -> impl Iterator<Item = &'a Digest> + use<'a, '_> {
        self.digests.iter().copied()
    }

    /// The runs of this column.
    pub(super) fn runs(&self) -> impl Iterator<Item = &'a DigestRun> + use<'a, '_> {
        self.digests().flat_map(|digest| &digest.runs)
    }

    /// The sums of the layers that `is_meant` chooses, in the runs that `is_run` chooses.
    pub(super) fn tally(
        &self,
        is_run: impl Fn(&DigestRun) -> bool,
        is_meant: impl Fn(&LayerRow) -> bool,
    ) -> Tally {
        let mut sum = Tally::default();
        for run in self.runs().filter(|run| is_run(run)) {
            for counts in run.layers.iter().filter(|of| is_meant(of.layer.row())) {
                sum += &counts.tally();
            }
        }
        sum
    }
}

/// The numbers in a version, by which 17.0.9 is older than 17.0.15.
fn numbers_of(version: &str) -> Vec<u32> {
    let numbers = version.split(|c: char| !c.is_ascii_digit());
    numbers.filter_map(|number| number.parse().ok()).collect()
}

/// The runs of a scenario, and on how many checks the tables rest: the first lines of each generated part.
pub(super) fn basis(columns: &[Column<'_>], scenario: &str) -> String {
    format!(
        "Runs of [{scenario}.toml](scenarios/{scenario}.toml), and how many checks they made:\n\n{}",
        made(columns)
    )
}

/// The table of reports.
pub(super) fn made(columns: &[Column<'_>]) -> String {
    let mut table = Table::new(["JDK", "build", "made (UTC)", "load", "checks:", "report"]);
    for digest in columns.iter().flat_map(Column::digests) {
        let layers = digest.runs.iter().flat_map(|run| &run.layers);
        // Layer `ground` counts hooks, and not walks.
        let walks = layers.filter(|counts| counts.layer.row().walker.is_some());
        let made = digest.made.first();
        let loads = made.and_then(|made| Some((made.load_before?, made.load_after?)));
        table.row([
            digest.jdk().to_owned(),
            format!("{} ({})", digest.version, digest.vendor),
            made.map(|made| {
                made.started
                    .chars()
                    .take(16)
                    .collect::<String>()
                    .replace('T', " ")
            })
            .unwrap_or_default(),
            loads.map_or("-".into(), |(before, after)| {
                format!("{before:.1} to {after:.1}")
            }),
            numbers::count(walks.map(|counts| counts.checks).sum()),
            format!("[{file}](data/{file})", file = digest.file()),
        ]);
    }
    table.markdown()
}

/// How often something was seen: `0.32 % (0.17 to 0.56 %)`, or `none (below 0.08 %)`.
pub(super) fn rate(count: u64, checks: u64) -> String {
    let seen = Occurrence { count, checks };
    let (low, high) = seen.interval();
    match (seen.rate(), count) {
        (None, _) => "no data".into(),
        (Some(_), 0) => format!("none (below {})", numbers::share(high)),
        (Some(rate), _) => format!(
            "{} ({})",
            numbers::share(rate),
            numbers::interval(low, high)
        ),
    }
}
