//! One page for a browser: everything is in it, so that it can be read offline and sent on.

mod flame;
mod heat;
mod stacks;

use crate::errors::meaning;
use crate::escape::xml;
use crate::number::rate;
use oracle::Layer;
use oracle::report::{LayerCounts, Report, Run};
use std::collections::BTreeMap;
use std::fmt::Write;

/// How many kinds of code with errors are shown.
const ERROR_PLACES: usize = 40;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Renders a report.
pub fn render(report: &Report) -> String {
    let finding = report.finding();
    let mut out =
        String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    let _ = write!(
        out,
        "<title>Stackwitness: {}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        finding.outcome
    );
    let _ = writeln!(
        out,
        "<header><h1>Stackwitness</h1><p class=\"verdict exit{}\">{}</p>",
        finding.outcome.exit_code(),
        finding.outcome
    );
    for jdk in crate::table::jdks(report) {
        let name = [&jdk.vm, &jdk.version, &jdk.vendor]
            .map(|part| xml(part))
            .join(" ");
        let _ = writeln!(out, "<p>{name}<br><code>{}</code></p>", xml(&jdk.home));
    }
    if !finding.reasons.is_empty() {
        let items: String = finding
            .reasons
            .iter()
            .map(|reason| format!("<li>{}</li>", xml(reason)))
            .collect();
        let _ = writeln!(out, "<ul>{items}</ul>");
    }
    out += "</header>\n";
    layers(&mut out, report);
    heat::render(&mut out, report);
    heat::trend(&mut out, report);
    stacks::render(&mut out, &report.mismatches);
    flame::render(&mut out, &report.mismatches);
    flame::render_all(&mut out, &report.runs);
    errors(&mut out, report);
    error_places(&mut out, report);
    places(&mut out, report);
    costs(&mut out, report);
    runs(&mut out, report);
    let _ = write!(out, "<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
    out
}

/// The layers, summed over all runs.
fn layers(out: &mut String, report: &Report) {
    *out += "<section id=\"layers\"><h2>Layers</h2>\n<table><tr><th>layer<th>checks<th>match<th>window<th>error\
        <th>truncated<th>wrong<th>unverifiable<th>dropped<th>rate<th>upper 95 %<th>budget</tr>\n";
    for counts in &report.layers {
        let _ = writeln!(
            out,
            "<tr class=\"{}\"><th>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}</tr>",
            standing(report, counts),
            counts.layer,
            counts.checks,
            counts.matches,
            counts.window,
            counts.error.values().sum::<u64>(),
            counts.truncated,
            counts.wrong,
            counts.unverifiable,
            counts.dropped,
            rate(counts.mismatch_rate),
            rate(counts.mismatch_upper95),
            report.budget.limit(counts.layer)
        );
    }
    *out += "</table></section>\n";
}

fn standing(report: &Report, counts: &LayerCounts) -> &'static str {
    use oracle::budget::Standing;
    match report.budget.standing(counts.layer, &counts.tally()) {
        Standing::Within => "within",
        Standing::Over => "over",
        Standing::NoData => "nodata",
    }
}

fn errors(out: &mut String, report: &Report) {
    let rows: Vec<(Layer, i32, u64)> = report
        .layers
        .iter()
        .flat_map(|counts| {
            counts
                .error
                .iter()
                .rev()
                .map(|(code, n)| (counts.layer, *code, *n))
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    let most = rows.iter().map(|row| row.2).max().unwrap_or(1).max(1);
    *out += "<section id=\"errors\"><h2>Error codes</h2>\n<table><tr><th>layer<th>code<th>means<th>checks<th></tr>\n";
    for (layer, code, n) in rows {
        let width = n * 200 / most;
        let _ = writeln!(
            out,
            "<tr><th>{layer}<td>{code}<td class=\"text\">{}<td>{n}<td class=\"text\"><i class=\"bar\" style=\"width:{width}px\"></i></tr>",
            meaning(layer, code)
        );
    }
    *out += "</table></section>\n";
}

/// In which code the walker gave errors.
fn error_places(out: &mut String, report: &Report) {
    let all = crate::errors::by_place(&report.runs);
    if all.is_empty() {
        return;
    }
    *out += "<section id=\"error-places\"><h2>Errors by code blob</h2>\n<table><tr><th>layer<th>code<th class=\"text\">means\
        <th class=\"text\">thread<th class=\"text\">code blob or library<th>checks</tr>\n";
    for error in all.iter().take(ERROR_PLACES) {
        let _ = writeln!(
            out,
            "<tr><th>{}<td>{}<td class=\"text\">{}<td class=\"text\">{}<td class=\"text\"><code>{}</code><td>{}</tr>",
            error.layer,
            error.code,
            meaning(error.layer, error.code),
            xml(&error.state),
            xml(&error.place),
            error.count
        );
    }
    *out += "</table>\n";
    if let Some(left) = crate::errors::left(&all, ERROR_PLACES) {
        let _ = writeln!(out, "<p>{left}</p>");
    }
    *out += "</section>\n";
}

/// Where the program counter was in mismatches.
fn places(out: &mut String, report: &Report) {
    let mut places: BTreeMap<&str, u64> = BTreeMap::new();
    for code in report
        .mismatches
        .iter()
        .filter_map(|mismatch| mismatch.evidence.code.as_ref())
    {
        // Offsets and addresses differ in each sample.
        *places
            .entry(code.split(" +").next().unwrap_or(code))
            .or_default() += 1;
    }
    if places.is_empty() {
        return;
    }
    let mut places: Vec<_> = places.into_iter().collect();
    places.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    *out += "<section id=\"places\"><h2>Mismatches by code blob</h2>\n<table><tr><th>mismatches<th>code</tr>\n";
    for (place, n) in places.iter().take(20) {
        let _ = writeln!(
            out,
            "<tr><td>{n}<td class=\"text\"><code>{}</code></tr>",
            xml(place)
        );
    }
    *out += "</table></section>\n";
}

fn costs(out: &mut String, report: &Report) {
    let heads = crate::cost::HEAD.map(|head| format!("<th>{head}")).concat();
    let _ = writeln!(
        out,
        "<section id=\"cost\"><h2>Cost</h2>\n<table><tr>{heads}</tr>"
    );
    for run in &report.runs {
        let [title, numbers @ ..] = crate::cost::row(run).map(|text| xml(&text).to_string());
        let cells = numbers.map(|number| format!("<td>{number}")).concat();
        let _ = writeln!(out, "<tr><th>{title}{cells}</tr>");
    }
    *out += "</table></section>\n";
}

fn runs(out: &mut String, report: &Report) {
    *out += "<section id=\"runs\"><h2>Runs</h2>\n";
    for run in &report.runs {
        one_run(out, run);
    }
    for skipped in &report.skipped {
        let _ = writeln!(
            out,
            "<p>{}: skipped: {}</p>",
            xml(&skipped.scenario),
            xml(&skipped.why)
        );
    }
    *out += "</section>\n";
}

fn one_run(out: &mut String, run: &Run) {
    let _ = writeln!(
        out,
        "<details><summary>{} <small>{}, {:.1} s</small></summary>\n<p><code>java {}</code></p>\n<p>Seed {}, folder \
         <code>{}</code>, {}.</p>",
        xml(&run.title()),
        xml(&crate::table::exit(run)),
        run.wall_s,
        xml(&run.java_args.join(" ")),
        run.seed,
        xml(&run.dir),
        crate::table::hooked(run)
    );
    if let Some(cost) = crate::cost::line(run) {
        let _ = writeln!(out, "<p>{}.</p>", xml(&cost));
    }
    let told = run.invalid.iter().chain(&run.failed).chain(&run.notes);
    let notes: String = told.map(|note| format!("<li>{}</li>", xml(note))).collect();
    if !notes.is_empty() {
        let _ = writeln!(out, "<ul>{notes}</ul>");
    }
    *out += "</details>\n";
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_bit_of_everything() {
        let page = super::render(&crate::sample::report());
        // Style and script are files of their own.
        let body = page
            .split("<body>")
            .nth(1)
            .and_then(|rest| rest.split("<script>").next());
        insta::assert_snapshot!(body.unwrap_or_default());
    }
}
