//! `stackwitness render`, and the formats of reports.

use super::input;
use crate::cli::{Color, Format, RenderArgs};
use crate::error::Error;
use crate::exit;
use crate::next::PAGE;
use crate::output::{self, Stream};
use anstream::{AutoStream, ColorChoice};
use oracle::gate::Decision;
use oracle::report::Report;
use reports::render::Style;
use scenarios::{collect, store};
use std::io;
use std::path::Path;

/// Renders a report to a file or standard output.
pub fn render(args: RenderArgs) -> Result<u8, Error> {
    let judge = args.judging.judge()?;
    let path = input::or_last(args.report);
    let report = if args.from_records {
        collect::recollect(&path)?
    } else {
        input::read(&path)?
    };
    let dir = input::folder(&path);
    let decision = judge.decide(&report);
    let style = match &args.output {
        Some(file) if file.as_os_str() != "-" => Style::Plain,
        _ => style(Stream::Output),
    };
    let text = text(&report, &decision, dir, args.format, style);
    match args.output {
        Some(file) if file.as_os_str() != "-" => store::write_file(&file, text.as_bytes())?,
        _ => output::print(Stream::Output, &text)?,
    }
    Ok(exit::WITHIN)
}

/// Writes a rendering beside the report.
pub fn write(
    report: &Report,
    decision: &Decision,
    dir: &Path,
    format: Format,
) -> Result<(), scenarios::Error> {
    let name = match format {
        Format::Summary => "summary.txt",
        Format::Verdict => "verdict.txt",
        Format::Table => "report.txt",
        Format::Answer => "answer.json",
        Format::Json => store::REPORT_FILE,
        Format::Junit => "junit.xml",
        Format::Markdown => "report.md",
        Format::Html => PAGE,
        Format::Annotations => "annotations.txt",
        Format::Lines => "lines.txt",
    };
    let text = text(report, decision, dir, format, Style::Plain);
    store::write_file(&dir.join(name), text.as_bytes())
}

/// Sets when output is coloured, for the whole process.
pub fn set_colour(when: Color) {
    let choice = match when {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    };
    choice.write_global();
}

/// How text looks on a stream: coloured on a terminal, unless the user forbids colours (`--color`, `NO_COLOR`, `TERM`,
/// `CLICOLOR_FORCE`).
pub fn style(stream: Stream) -> Style {
    let choice = match stream {
        Stream::Output => AutoStream::choice(&io::stdout()),
        Stream::Error => AutoStream::choice(&io::stderr()),
    };
    match choice {
        ColorChoice::Never => Style::Plain,
        _ => Style::Coloured,
    }
}

/// A report in one of its formats; `style` matters to the table.
pub fn text(
    report: &Report,
    decision: &Decision,
    dir: &Path,
    format: Format,
    style: Style,
) -> String {
    let format = match format {
        Format::Json => return store::to_json(report),
        Format::Summary => reports::Format::Brief(style),
        Format::Verdict => reports::Format::Verdict(style),
        Format::Table => reports::Format::Text(style),
        Format::Answer => reports::Format::Answer,
        Format::Junit => reports::Format::Junit,
        Format::Markdown => reports::Format::Markdown,
        Format::Html => reports::Format::Html,
        Format::Annotations => reports::Format::Annotations,
        Format::Lines => reports::Format::Lines,
    };
    let source = dir.join(store::REPORT_FILE);
    reports::render(report, decision, &source.display().to_string(), format)
}
