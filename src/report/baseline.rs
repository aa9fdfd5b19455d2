//! `stackwitness baseline`.

use super::input;
use crate::cli::BaselineCommand;
use crate::error::Error;
use crate::exit;
use crate::output::{self, Stream, print, say};
use oracle::gate::Baseline;
use scenarios::baseline as baseline_file;
use std::env::consts::ARCH;
use std::path::{Path, PathBuf};

/// Fewer runs show too little of the differences between equal runs.
const FEW: usize = 5;

/// Makes a baseline, brings one up to date, or shows one.
pub fn command(command: BaselineCommand) -> Result<u8, Error> {
    match command {
        BaselineCommand::Create { from, output } => write(&output, &gather(&from)?),
        BaselineCommand::Update { baseline, from } => {
            let mut whole = baseline_file::read(&baseline)?;
            whole.replace(gather(&from)?);
            write(&baseline, &whole)
        }
        BaselineCommand::Show { baseline } => {
            print(Stream::Output, &shown(&baseline_file::read(&baseline)?))?;
            Ok(exit::WITHIN)
        }
    }
}

fn gather(from: &[PathBuf]) -> Result<Baseline, Error> {
    let gathered = baseline_file::gather(from, ARCH, input::read)?;
    for (platform, set) in &gathered.sets {
        if set.samples.len() < FEW {
            let n = set.samples.len();
            let runs = if n == 1 { "run is" } else { "runs are" };
            say(format!(
                "{platform}: {n} {runs} few; the gate sees more with {FEW} or more"
            ));
        }
    }
    Ok(gathered)
}

fn write(path: &Path, baseline: &Baseline) -> Result<u8, Error> {
    if output::is_standard(path) {
        print(Stream::Output, &baseline_file::text(baseline))?;
    } else {
        baseline_file::write(path, baseline)?;
        print(Stream::Output, &shown(baseline))?;
    }
    Ok(exit::WITHIN)
}

/// A line for each platform of a baseline.
fn shown(baseline: &Baseline) -> String {
    let line = |(platform, set): (&_, &oracle::gate::Set)| {
        let (runs, cells) = (set.samples.len(), set.counts.len());
        let s = if runs == 1 { "" } else { "s" };
        format!("{platform}: {runs} run{s}, {cells} cells\n")
    };
    baseline.sets.iter().map(line).collect()
}
