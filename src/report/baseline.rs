//! `stackwitness baseline`.

use super::input;
use crate::cli::{BaselineAction, BaselineArgs, MakeArgs};
use crate::error::Error;
use crate::exit;
use crate::output::{Stream, print, say};
use oracle::gate::Baseline;
use scenarios::baseline as baseline_file;
use std::env::consts::ARCH;
use std::path::{Path, PathBuf};

/// Fewer runs show too little of the differences between equal runs.
const FEW: usize = 5;

/// Makes a baseline, or brings one up to date.
pub fn command(args: BaselineArgs) -> Result<u8, Error> {
    match (args.action, args.make) {
        (Some(BaselineAction::Update { baseline, from }), _) => {
            let mut whole = baseline_file::read(&baseline)?;
            whole.replace(gather(&from)?);
            write(&baseline, &whole)
        }
        (None, Some(MakeArgs { from, output })) => write(&output, &gather(&from)?),
        (None, None) => Err(Error::usage("give --from DIR... and --output FILE".into())),
    }
}

fn gather(from: &[PathBuf]) -> Result<Baseline, Error> {
    let gathered = baseline_file::gather(from, ARCH, input::read)?;
    for (platform, set) in &gathered.sets {
        if set.samples.len() < FEW {
            let n = set.samples.len();
            say(format!(
                "{platform}: {n} runs are few; the gate sees more with {FEW} or more"
            ));
        }
    }
    Ok(gathered)
}

fn write(path: &Path, baseline: &Baseline) -> Result<u8, Error> {
    baseline_file::write(path, baseline)?;
    for (platform, set) in &baseline.sets {
        let (runs, cells) = (set.samples.len(), set.counts.len());
        let line = format!("{platform}: {runs} runs, {cells} cells\n");
        print(Stream::Output, &line)?;
    }
    Ok(exit::WITHIN)
}
