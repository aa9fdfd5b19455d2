//! `stackwitness dev publish`: the parts of the documentation that come from stored reports and from tables.
//!
//! * [`commands`]: the commands and their options;
//! * [`built_in`]: the built-in scenarios.

mod built_in;
mod commands;

use crate::cli::PublishArgs;
use crate::error::Error;
use crate::exit;
use crate::output::{Stream, print};
use crate::report::input;
use reports::published::{Digest, Part, Sources, references, results};
use std::fs;
use std::path::Path;

/// The stored reports, from `docs` on.
const DATA: &str = "results/data";

/// The names of the fixtures and their classes, from `docs` on.
const CATALOGUE: &str = "../java-fixtures/java/fixtures/stackwitness/fixtures/Catalogue.java";

/// Stores the digests of reports, and writes all generated parts. Prints the names of the files that changed.
pub fn command(args: &PublishArgs) -> Result<u8, Error> {
    let data = args.docs.join(DATA);
    for path in &args.reports {
        let report = input::read(path)?;
        let digest = Digest::new(&report).map_err(Error::about(path))?;
        let text = serde_json::to_string_pretty(&digest).map_err(Error::about(path))?;
        let file = data.join(digest.file());
        fs::write(&file, text + "\n").map_err(Error::about(&file))?;
    }
    for part in parts(&args.docs)? {
        let (old, new) = page(&args.docs, &part)?;
        if old != new {
            let file = args.docs.join(part.page);
            fs::write(&file, new).map_err(Error::about(&file))?;
            print(Stream::Output, &format!("{}\n", file.display()))?;
        }
    }
    Ok(exit::WITHIN)
}

/// All generated parts of the documentation in `docs`.
fn parts(docs: &Path) -> Result<Vec<Part>, Error> {
    let catalogue = docs.join(CATALOGUE);
    let catalogue = fs::read_to_string(&catalogue).map_err(Error::about(&catalogue))?;
    let mut parts = results(&stored(docs)?, &Sources::new(&catalogue));
    parts.extend(references());
    parts.push(commands::part());
    parts.push(built_in::part());
    Ok(parts)
}

/// The stored reports, by name.
fn stored(docs: &Path) -> Result<Vec<Digest>, Error> {
    let folder = docs.join(DATA);
    let mut files = vec![];
    for entry in fs::read_dir(&folder).map_err(Error::about(&folder))? {
        files.push(entry.map_err(Error::about(&folder))?.path());
    }
    files.retain(|file| file.extension().is_some_and(|end| end == "json"));
    files.sort();
    let read = |file: &std::path::PathBuf| {
        let text = fs::read_to_string(file).map_err(Error::about(file))?;
        serde_json::from_str(&text).map_err(Error::about(file))
    };
    files.iter().map(read).collect()
}

/// A page as it is, and as it is with its generated part.
fn page(docs: &Path, part: &Part) -> Result<(String, String), Error> {
    let file = docs.join(part.page);
    let old = fs::read_to_string(&file).map_err(Error::about(&file))?;
    let new = part.put_into(&old);
    let new = new.ok_or_else(|| Error::about(&file)("it has no marks for a generated part"))?;
    Ok((old, new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_what_the_tables_and_the_stored_reports_say() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        let mut stale = vec![];
        for part in parts(&docs).expect("the documentation can be read") {
            let (old, new) = page(&docs, &part).expect("the page has marks");
            if old != new {
                stale.push(part.page);
            }
        }
        assert!(
            stale.is_empty(),
            "{stale:?} in docs are stale: run `cargo run -- dev publish`"
        );
    }

    #[test]
    fn the_scenarios_of_the_results_are_scenarios() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        let folder = docs.join("results/scenarios");
        let mut names = vec![];
        for entry in fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("an entry").path();
            let scenario = scenarios::scenario::Scenario::load(&path.to_string_lossy(), &[]);
            names.push(scenario.expect("the scenario is right").name);
        }
        let built_in = scenarios::scenario::BUILT_IN.iter();
        names.extend(built_in.map(|(name, _)| (*name).to_owned()));
        for digest in stored(&docs).expect("the reports can be read") {
            assert!(names.contains(&digest.scenario), "{}", digest.scenario);
        }
    }

    #[test]
    fn the_name_of_a_stored_report_says_what_it_is_of() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        for digest in stored(&docs).expect("the reports can be read") {
            let file = docs.join(DATA).join(digest.file());
            assert!(file.is_file(), "{}", file.display());
        }
    }
}
