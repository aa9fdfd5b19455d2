//! `stackwitness dev listing`: the generated code that threads ran step by step.

use crate::cli::ListingArgs;
use crate::error::Error;
use crate::exit;
use crate::output::{self, Stream};
use oracle::record::{VISITED_FILE, VisitedCode};
use reports::listing::{LEGEND, has_false_answers, listing};
use std::fs::File;
use std::io::{self, BufRead, BufReader};

/// Prints the chosen code.
pub fn command(args: &ListingArgs) -> Result<u8, Error> {
    let path = if args.run.is_dir() {
        args.run.join(VISITED_FILE)
    } else {
        args.run.clone()
    };
    let failed = Error::about::<io::Error>(&path);
    let is_chosen = |code: &VisitedCode| match &args.method {
        Some(text) => code
            .method
            .as_ref()
            .is_some_and(|method| method.contains(text)),
        None => has_false_answers(code),
    };
    let file = match File::open(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let run = args.run.display();
            return Err(Error::usage(format!(
                "{run} has no steps: only runs with `steps` have them, as those of `stackwitness run --scenario step`"
            )));
        }
        file => file.map_err(&failed)?,
    };
    output::print(Stream::Output, LEGEND)?;
    for line in BufReader::new(file).lines() {
        let line = line.map_err(&failed)?;
        let code: VisitedCode =
            serde_json::from_str(&line).map_err(|error| failed(error.into()))?;
        if let Some(text) = Some(&code).filter(|code| is_chosen(code)).and_then(listing) {
            output::print(Stream::Output, &format!("\n{text}"))?;
        }
    }
    Ok(exit::WITHIN)
}
