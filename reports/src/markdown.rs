//! Markdown for a CI system's summary.

use crate::number::rate;
use oracle::report::{LayerCounts, Report};
use std::collections::BTreeMap;
use std::fmt::Write;

/// How many kinds of mismatches are shown, and of errors.
const SHOWN: usize = 10;

/// Renders a report.
pub fn render(report: &Report) -> String {
    let finding = report.finding();
    let jdk = &report.jdk;
    let mut out = format!("## Stackwitness: {}\n\n", finding.outcome);
    let _ = writeln!(
        out,
        "{} {} ({})\n",
        cell(&jdk.vm),
        cell(&jdk.version),
        cell(&jdk.vendor)
    );
    for reason in &finding.reasons {
        let _ = writeln!(out, "- {}", cell(reason));
    }
    if !finding.reasons.is_empty() {
        out.push('\n');
    }
    out += "| run | layer | checks | match | window | error | truncated | wrong | unverifiable | rate | upper 95 % |\n";
    out += "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for run in &report.runs {
        let title = run.title();
        run.layers
            .iter()
            .for_each(|counts| row(&mut out, &title, counts));
    }
    report
        .layers
        .iter()
        .for_each(|counts| row(&mut out, "**sum**", counts));
    costs(&mut out, report);
    for run in report.runs.iter().filter(|run| !run.notes.is_empty()) {
        let _ = writeln!(
            out,
            "\n- {}: {}",
            cell(&run.title()),
            cell(&run.notes.join("; "))
        );
    }
    for skipped in &report.skipped {
        let _ = writeln!(
            out,
            "\n- {}: skipped: {}",
            cell(&skipped.scenario),
            cell(&skipped.why)
        );
    }
    errors(&mut out, report);
    causes(&mut out, report);
    mismatches(&mut out, report);
    out
}

fn row(out: &mut String, title: &str, counts: &LayerCounts) {
    let _ = writeln!(
        out,
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        cell(title),
        counts.layer,
        counts.checks,
        counts.matches,
        counts.window,
        counts.error.values().sum::<u64>(),
        counts.truncated,
        counts.wrong,
        counts.unverifiable,
        rate(counts.mismatch_rate),
        rate(counts.mismatch_upper95)
    );
}

fn costs(out: &mut String, report: &Report) {
    let _ = writeln!(out, "\n| {} |", crate::cost::HEAD.join(" | "));
    *out += "| --- | ---: | ---: | ---: | ---: |\n";
    for run in &report.runs {
        let _ = writeln!(
            out,
            "| {} |",
            crate::cost::row(run).map(|text| cell(&text)).join(" | ")
        );
    }
}

fn errors(out: &mut String, report: &Report) {
    let all = crate::errors::by_place(&report.runs);
    if all.is_empty() {
        return;
    }
    *out += "\n<details><summary>Errors by code blob</summary>\n\n";
    *out += "| layer | code | means | thread | code blob or library | checks |\n";
    *out += "| --- | ---: | --- | --- | --- | ---: |\n";
    for error in all.iter().take(SHOWN) {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            error.layer,
            error.code,
            crate::errors::meaning(error.layer, error.code),
            cell(&error.state),
            cell(&error.place),
            error.count
        );
    }
    if let Some(left) = crate::errors::left(&all, SHOWN) {
        let _ = writeln!(out, "\n{left}");
    }
    *out += "\n</details>\n";
}

fn causes(out: &mut String, report: &Report) {
    let causes = crate::causes::counted(&report.mismatches);
    if causes.is_empty() {
        return;
    }
    *out += "\n| layer | cause of mismatches written down | means | mismatches |\n";
    *out += "| --- | --- | --- | ---: |\n";
    for (layer, cause, n) in causes {
        let meaning = crate::causes::meaning(cause);
        let _ = writeln!(out, "| {layer} | {cause} | {meaning} | {n} |");
    }
}

fn mismatches(out: &mut String, report: &Report) {
    let mut kinds: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for mismatch in &report.mismatches {
        kinds
            .entry(mismatch.signature())
            .or_default()
            .push(mismatch);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, all)| std::cmp::Reverse(all.len()));
    for (signature, all) in kinds.iter().take(SHOWN) {
        let _ = writeln!(
            out,
            "\n<details><summary>{} x {}</summary>\n\n```\n{}```\n\n</details>",
            all.len(),
            crate::escape::xml(signature),
            crate::stacks::side_by_side(all[0])
        );
    }
}

/// Text that cannot break out of a table's cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
        .replace('<', "&lt;")
        .replace('\n', " ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_bit_of_everything() {
        insta::assert_snapshot!(super::render(&crate::sample::report()));
    }
}
