//! What profiles are worth: all profilers side by side, then the methods and the stacks of each.

use super::rows::{Row, of_run};
use super::{methods, profilers, stacks};
use crate::model::Section;
use oracle::report::Report;

/// The sections; none without a profile.
pub(in crate::content) fn sections(report: &Report) -> Vec<Section> {
    let rows: Vec<Row<'_>> = report.runs.iter().flat_map(of_run).collect();
    let of_methods = if rows.is_empty() {
        vec![]
    } else {
        vec![profilers::section(report, &rows), methods::section(&rows)]
    };
    of_methods
        .into_iter()
        .chain(stacks::section(report))
        .collect()
}
