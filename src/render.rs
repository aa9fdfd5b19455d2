//! `stackwitness render`.

use crate::cli::{Format, RenderArgs};
use crate::input;
use oracle::report::Report;
use reports::table::Style;
use scenarios::{Error, collect, store};
use std::io::{self, Write};
use std::path::Path;

/// Renders a report to a file or standard output.
pub fn render(args: RenderArgs) -> Result<(), Error> {
    let report = match args.from_records {
        true => collect::recollect(&args.report)?,
        false => input::read(&args.report)?,
    };
    let dir = if args.report.is_dir() {
        args.report.as_path()
    } else {
        args.report.parent().unwrap_or(Path::new("."))
    };
    let text = text(&report, dir, args.format);
    match args.output {
        Some(file) => store::write_file(&file, text.as_bytes()),
        None => {
            // A reader that has seen enough, as `head`, is no error.
            let _ = io::stdout().write_all(text.as_bytes());
            Ok(())
        }
    }
}

/// Writes a rendering beside the report.
pub fn write(report: &Report, dir: &Path, format: Format) -> Result<(), Error> {
    let name = match format {
        Format::Table => "report.txt",
        Format::Json => store::REPORT_FILE,
        Format::Junit => "junit.xml",
        Format::Markdown => "report.md",
        Format::Html => "report.html",
    };
    store::write_file(&dir.join(name), text(report, dir, format).as_bytes())
}

/// The table, coloured for a terminal whose user likes that.
pub fn table(report: &Report, dir: &Path, terminal: bool) -> String {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let style = if terminal && !plain {
        Style::Coloured
    } else {
        Style::Plain
    };
    let source = dir.join(store::REPORT_FILE);
    reports::table::render(report, &source.display().to_string(), style)
}

/// A report in one of its formats.
pub fn text(report: &Report, dir: &Path, format: Format) -> String {
    match format {
        Format::Table => table(report, dir, false),
        Format::Json => store::to_json(report),
        Format::Junit => reports::junit::render(report),
        Format::Markdown => reports::markdown::render(report),
        Format::Html => reports::html::render(report),
    }
}
