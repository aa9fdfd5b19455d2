//! The matrix as a heat map, and the trend over repetitions.

use crate::escape::xml;
use crate::number::rate;
use oracle::Layer;
use oracle::report::{Exit, Report, Run};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A row for each run, a column for each layer; the warmer, the more mismatches.
pub(super) fn render(out: &mut String, report: &Report) {
    *out += "<section id=\"heat\"><h2>Runs by layer</h2>\n<table class=\"heat\"><tr><th>run";
    for counts in &report.layers {
        let _ = write!(out, "<th>{}", counts.layer);
    }
    *out += "</tr>\n";
    for run in &report.runs {
        let trouble = match (&run.exit, run.invalid.is_some() || run.failed.is_some()) {
            (Exit::Code(_), false) => String::new(),
            _ => format!(
                " <small class=\"bad\">{}</small>",
                xml(&crate::table::exit(run))
            ),
        };
        let _ = write!(out, "<tr><th>{}{trouble}", xml(&run.title()));
        for column in &report.layers {
            cell(out, run, column.layer);
        }
        *out += "</tr>\n";
    }
    *out += "</table></section>\n";
}

fn cell(out: &mut String, run: &Run, layer: Layer) {
    let Some(counts) = run.layers.iter().find(|counts| counts.layer == layer) else {
        *out += "<td class=\"absent\">";
        return;
    };
    let _ = write!(
        out,
        "<td class=\"h{}\" title=\"{} mismatches in {} checks, upper bound {}\">{}",
        heat(counts.mismatch_rate),
        counts.tally().mismatches(),
        counts.checks,
        rate(counts.mismatch_upper95),
        rate(counts.mismatch_rate)
    );
}

/// From 0, none, by powers of ten to 6, one in ten or more; `x` without data.
fn heat(rate: Option<f64>) -> String {
    match rate {
        None => "x".into(),
        Some(rate) if rate <= 0.0 => "0".into(),
        Some(rate) => ((rate.log10() + 7.0).floor().clamp(1.0, 6.0) as u32).to_string(),
    }
}

/// Rates over repetitions of the same variant, where there are any.
pub(super) fn trend(out: &mut String, report: &Report) {
    let mut series: BTreeMap<(String, Layer), Vec<f64>> = BTreeMap::new();
    for run in report
        .runs
        .iter()
        .filter(|run| run.axes.contains_key("repetition"))
    {
        let mut axes = run.axes.clone();
        axes.remove("repetition");
        let title = oracle::report::title(&run.scenario, &axes);
        for counts in &run.layers {
            let rates = series.entry((title.clone(), counts.layer)).or_default();
            rates.extend(counts.mismatch_rate);
        }
    }
    series.retain(|_, rates| rates.len() > 1 && rates.iter().any(|&rate| rate > 0.0));
    if series.is_empty() {
        return;
    }
    *out += "<section id=\"trend\"><h2>Over repetitions</h2>\n<table><tr><th>run<th>layer<th>lowest<th>highest<th></tr>\n";
    for ((title, layer), rates) in series {
        let (low, high) = rates
            .iter()
            .fold((f64::MAX, 0.0f64), |(l, h), &r| (l.min(r), h.max(r)));
        let points: Vec<String> = rates
            .iter()
            .enumerate()
            .map(|(i, r)| {
                format!(
                    "{:.1},{:.1}",
                    i as f64 * 200.0 / (rates.len() - 1) as f64,
                    22.0 - r / high * 20.0
                )
            })
            .collect();
        let _ = writeln!(
            out,
            "<tr><th>{}<td class=\"text\">{layer}<td>{}<td>{}<td><svg width=\"204\" height=\"24\"><polyline points=\"{}\"/></svg></tr>",
            xml(&title),
            rate(Some(low)),
            rate(Some(high)),
            points.join(" ")
        );
    }
    *out += "</table></section>\n";
}
