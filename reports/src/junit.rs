//! JUnit XML for a CI system's list of tests: a suite for each run, a test for each of its
//! layers. Over budget is a failure; no data, a crash or a run that is worthless an error.

use crate::escape::xml;
use oracle::budget::Standing;
use oracle::outcome::Outcome;
use oracle::report::{Exit, LayerCounts, Report, Run};
use std::fmt::Write;

/// Renders a report.
pub fn render(report: &Report) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"stackwitness\">\n",
    );
    for run in &report.runs {
        suite(&mut out, report, run);
    }
    for skipped in &report.skipped {
        let name = xml(&skipped.scenario);
        let _ = writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\">\n    \
             <testcase classname=\"{name}\" name=\"run\"><skipped message=\"{}\"/></testcase>\n  </testsuite>",
            xml(&skipped.why)
        );
    }
    out += "</testsuites>\n";
    out
}

/// What a test case says.
enum Case {
    Pass,
    Failure(String),
    Error(String),
}

fn suite(out: &mut String, report: &Report, run: &Run) {
    let mut cases = vec![("run".to_owned(), whole(run))];
    cases.extend(
        run.layers
            .iter()
            .map(|counts| (counts.layer.to_string(), layer(report, run, counts))),
    );
    let failures = cases
        .iter()
        .filter(|(_, case)| matches!(case, Case::Failure(_)))
        .count();
    let errors = cases
        .iter()
        .filter(|(_, case)| matches!(case, Case::Error(_)))
        .count();
    let title = xml(&run.title());
    let _ = writeln!(
        out,
        "  <testsuite name=\"{title}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\" time=\"{:.3}\">",
        cases.len(),
        run.wall_s
    );
    for (name, case) in cases {
        let time = if name == "run" { run.wall_s } else { 0.0 };
        let _ = write!(
            out,
            "    <testcase classname=\"{title}\" name=\"{name}\" time=\"{time:.3}\""
        );
        let (tag, text) = match case {
            Case::Pass => {
                out.push_str("/>\n");
                continue;
            }
            Case::Failure(text) => ("failure", text),
            Case::Error(text) => ("error", text),
        };
        let first = text.lines().next().unwrap_or_default();
        let _ = writeln!(
            out,
            "><{tag} message=\"{}\">{}</{tag}></testcase>",
            xml(first),
            xml(&text)
        );
    }
    out.push_str("  </testsuite>\n");
}

/// How the program as a whole fared.
fn whole(run: &Run) -> Case {
    let notes = |first: String| [vec![first], run.notes.clone()].concat().join("\n");
    match (&run.exit, run.invalid.as_ref().or(run.failed.as_ref())) {
        (_, Some(why)) => Case::Error(notes(why.clone())),
        (Exit::Signal(signal), _) => {
            Case::Error(notes(format!("the JVM was killed by signal {signal}")))
        }
        (Exit::Deadline, _) => {
            Case::Error(notes("the JVM did not end in time and was killed".into()))
        }
        (Exit::Interrupted, _) => Case::Error("interrupted".into()),
        _ => Case::Pass,
    }
}

fn layer(report: &Report, run: &Run, counts: &LayerCounts) -> Case {
    match report.budget.standing(counts.layer, &counts.tally()) {
        Standing::Within => Case::Pass,
        Standing::NoData if report.required.contains(&counts.layer) => {
            Case::Error(Outcome::NotMeasured.to_string() + ": no data")
        }
        Standing::NoData => Case::Pass,
        Standing::Over => {
            let mut text = format!(
                "{} truncated and {} wrong in {} checks, budget {}",
                counts.truncated,
                counts.wrong,
                counts.checks,
                report.budget.limit(counts.layer)
            );
            let of_run = report
                .mismatches
                .iter()
                .filter(|m| m.layer == counts.layer && m.evidence.run.as_ref() == Some(&run.dir));
            for mismatch in of_run.take(3) {
                let _ = write!(text, "\n\n{}", crate::stacks::side_by_side(mismatch));
            }
            Case::Failure(text)
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_bit_of_everything() {
        insta::assert_snapshot!(super::render(&crate::sample::report()));
    }
}
