//! Baselines on disk: JSON with a line for each cell, sorted, so that a difference between two
//! versions of a file reads well.

use crate::Error;
use crate::store::write_file;
use oracle::Hooking;
use oracle::gate::{Baseline, Platform, Program, Sample, Set};
use oracle::report::Report;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The number of the format.
const FORMAT: u64 = 2;

/// The first format, which does not tell kinds of instants.
const FIRST: u64 = 1;

/// Where a baseline comes from.
const REMEDY: &str = "`stackwitness baseline create` makes a baseline of reports";

/// No run counts further, and sums of such counts have room.
const MOST: u64 = 1 << 48;

/// The key of the format's number. Only a baseline has this key, and not a report.
const KEY: &str = "stackwitness_baseline";

/// A baseline as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    stackwitness_baseline: u64,
    platforms: BTreeMap<String, FileSet>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSet {
    samples: Vec<FileSample>,
    programs: BTreeMap<String, FileProgram>,
    cells: BTreeMap<String, Vec<u64>>,
    #[serde(default)]
    instants: BTreeMap<String, BTreeMap<String, Vec<u64>>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSample {
    version: String,
    seed: u64,
    seconds: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileProgram {
    flags: String,
    hooks: Hooking,
    work: String,
}

/// A baseline as its file has it.
pub fn to_text(baseline: &Baseline) -> String {
    let mut text = format!("{{\n\"{KEY}\": {FORMAT},\n\"platforms\": {{");
    for (at, (platform, set)) in baseline.sets.iter().enumerate() {
        let _ = write!(text, "{}\n{}: {{", comma(at), json(&platform.to_string()));
        let samples = set
            .samples
            .iter()
            .map(|sample| json(&FileSample::from(sample)));
        let _ = write!(text, "\n\"samples\": [{}\n],", lines(samples));
        let programs = set.programs.iter();
        let programs =
            programs.map(|(name, p)| format!("{}: {}", json(name), json(&FileProgram::from(p))));
        let _ = write!(text, "\n\"programs\": {{{}\n}},", lines(programs));
        let cells = set.counts.iter();
        let cells =
            cells.map(|(cell, counts)| format!("{}: {}", json(&cell.to_string()), json(counts)));
        let _ = write!(text, "\n\"cells\": {{{}\n}},", lines(cells));
        let instants = set.instants.iter();
        let instants =
            instants.map(|(cell, kinds)| format!("{}: {}", json(&cell.to_string()), json(kinds)));
        let _ = write!(text, "\n\"instants\": {{{}\n}}\n}}", lines(instants));
    }
    text + "\n}\n}\n"
}

fn comma(at: usize) -> &'static str {
    match at {
        0 => "",
        _ => ",",
    }
}

fn lines(items: impl Iterator<Item = String>) -> String {
    let lines = items
        .enumerate()
        .map(|(at, item)| format!("{}\n{item}", comma(at)));
    lines.collect()
}

fn json<T: Serialize + ?Sized>(data: &T) -> String {
    serde_json::to_string(data).expect("what we write is plain data")
}

/// The text of a baseline's file.
pub fn text(baseline: &Baseline) -> String {
    to_text(baseline)
}

/// Writes a baseline in one step.
pub fn write(path: &Path, baseline: &Baseline) -> Result<(), Error> {
    write_file(path, to_text(baseline).as_bytes())
}

/// Reads a baseline.
pub fn read(path: &Path) -> Result<Baseline, Error> {
    let fail = |why: String| Error::Baseline {
        path: path.into(),
        why,
    };
    let text = fs::read(path).map_err(|e| fail(format!("{e}; {REMEDY}")))?;
    let value: Value =
        serde_json::from_slice(&text).map_err(|e| fail(format!("no baseline: {e}; {REMEDY}")))?;
    parse(value).map_err(fail)
}

fn parse(value: Value) -> Result<Baseline, String> {
    match value[KEY].as_u64() {
        Some(FIRST..=FORMAT) => {}
        Some(n) => {
            return Err(format!(
                "its format is {n}; this version reads formats {FIRST} to {FORMAT}"
            ));
        }
        None => return Err(format!("no baseline: it has no `{KEY}`; {REMEDY}")),
    }
    let file: File = serde_json::from_value(value).map_err(|e| format!("no baseline: {e}"))?;
    debug_assert!((FIRST..=FORMAT).contains(&file.stackwitness_baseline));
    let mut baseline = Baseline::default();
    for (name, set) in file.platforms {
        let platform: Platform = name.parse()?;
        baseline.sets.insert(platform, set.check()?);
    }
    Ok(baseline)
}

/// A baseline from reports and baselines: folders of results, their `report.json`, or files of
/// baselines. `arch` is the architecture of the machine that ran the reports; `read_report` reads a
/// report.
pub fn gather(
    paths: &[PathBuf],
    arch: &str,
    read_report: impl Fn(&Path) -> Result<Report, Error>,
) -> Result<Baseline, Error> {
    let mut whole = Baseline::default();
    for path in paths {
        let fail = |why: String| Error::Baseline {
            path: path.clone(),
            why,
        };
        if is_baseline(path) {
            whole.append(read(path)?).map_err(fail)?;
        } else {
            whole.add_report(&read_report(path)?, arch).map_err(fail)?;
        }
    }
    whole.condense();
    Ok(whole)
}

/// Whether a file is a baseline, and not a report.
pub fn is_baseline(path: &Path) -> bool {
    let read = || serde_json::from_slice::<Value>(&fs::read(path).ok()?).ok();
    path.is_file() && read().is_some_and(|value| value.get(KEY).is_some())
}

impl FileSet {
    fn check(self) -> Result<Set, String> {
        let programs = self.programs.into_iter();
        let mut set = Set {
            samples: self.samples.into_iter().map(Sample::from).collect(),
            programs: programs.map(|(name, p)| (name, p.into())).collect(),
            ..Set::default()
        };
        let samples = set.samples.len();
        let check = |name: &str, counts: &[u64]| {
            let n = counts.len();
            if n != samples {
                return Err(format!("`{name}` has {n} counts for {samples} samples"));
            }
            match counts.iter().find(|&&count| count > MOST) {
                Some(count) => Err(format!(
                    "`{name}` has a count of {count}: no run counts that far"
                )),
                None => Ok(()),
            }
        };
        for (name, counts) in self.cells {
            check(&name, &counts)?;
            set.counts.insert(name.parse()?, counts);
        }
        for (name, kinds) in self.instants {
            kinds.values().try_for_each(|counts| check(&name, counts))?;
            set.instants.insert(name.parse()?, kinds);
        }
        Ok(set)
    }
}

impl From<&Sample> for FileSample {
    fn from(sample: &Sample) -> FileSample {
        FileSample {
            version: sample.version.clone(),
            seed: sample.seed,
            seconds: sample.seconds,
        }
    }
}

impl From<FileSample> for Sample {
    fn from(sample: FileSample) -> Sample {
        Sample {
            version: sample.version,
            seed: sample.seed,
            seconds: sample.seconds,
        }
    }
}

impl From<&Program> for FileProgram {
    fn from(program: &Program) -> FileProgram {
        FileProgram {
            flags: program.flags.clone(),
            hooks: program.hooks,
            work: program.work.clone(),
        }
    }
}

impl From<FileProgram> for Program {
    fn from(program: FileProgram) -> Program {
        Program {
            flags: program.flags,
            hooks: program.hooks,
            work: program.work,
        }
    }
}
