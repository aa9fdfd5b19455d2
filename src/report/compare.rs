//! `stackwitness compare`.

use super::{input, render};
use crate::cli::CompareArgs;
use crate::error::Error;
use crate::exit;
use crate::next;
use crate::output::{Stream, print, say};
use oracle::gate::{self, Baseline, Comparison, Judging};
use oracle::report::Report;
use scenarios::store;
use std::env::consts::ARCH;
use std::path::{Path, PathBuf};
use std::slice;

/// The page, beside the new report.
const PAGE: &str = "compare.html";

/// Prints how a report differs from another report, or from the runs of a baseline, and writes the same as a page. A worse
/// report gets the exit code of a layer over its budget.
pub fn compare(args: CompareArgs) -> Result<u8, Error> {
    let base = scenarios::baseline::gather(slice::from_ref(&args.base), ARCH, input::read)?;
    let new = input::read(&args.new)?;
    let judging = Judging { alpha: args.alpha };
    let compared = gate::compare(&new, &base, ARCH, judging);
    let code = exit::of(compared.outcome);
    let page = || page(&args, &new, &base, &compared);
    if args.output.as_deref().is_some_and(is_stream) {
        print(Stream::Output, &page())?;
        return Ok(code);
    }
    let file = match &args.output {
        Some(file) => {
            store::write_file(file, page().as_bytes())?;
            Some(file.clone())
        }
        None if is_stream(&args.new) => None,
        None => beside(&args.new, &page()),
    };
    let text = if args.json {
        let reasons: Vec<&String> = compared.reasons.iter().map(|reason| &reason.text).collect();
        let answer = serde_json::json!({ "outcome": compared.outcome.name(), "reasons": reasons });
        format!("{answer:#}\n")
    } else {
        let document = reports::content::comparison(&new, &compared);
        let text = reports::render::screen(&document, render::style(Stream::Output));
        let report = file.map(|file| format!("\nReport  {}\n", next::address_of(&file)));
        text + &report.unwrap_or_default()
    };
    print(Stream::Output, &text)?;
    Ok(code)
}

fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Writes the page beside the new report, and returns where. Nobody asked for this file, so it is no error if the folder cannot
/// be written to.
fn beside(report: &Path, page: &str) -> Option<PathBuf> {
    let file = input::folder(report).join(PAGE);
    match store::write_file(&file, page.as_bytes()) {
        Ok(()) => Some(file),
        Err(error) => {
            say(format!("no page: {error}"));
            None
        }
    }
}

fn page(args: &CompareArgs, new: &Report, base: &Baseline, compared: &Comparison) -> String {
    let judging = Judging { alpha: args.alpha };
    let decision = compared.decision(new, base, ARCH, judging);
    let source = input::folder(&args.new).join(store::REPORT_FILE);
    let old = args.base.display().to_string();
    reports::compared(new, &decision, base, [&old, &source.display().to_string()])
}
