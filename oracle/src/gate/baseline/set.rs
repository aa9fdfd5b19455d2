//! Samples of one platform: the counts of every cell in each of several runs of a scenario.

use super::cell::Cell;
use crate::Hooking;
use crate::gate::stats::dispersion::Series;
use crate::record::InstantCount;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The properties that JVMs must share to be compared.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub struct Platform {
    /// The feature release of the JDK, such as 17.
    pub feature: u32,
    /// The architecture of the processor, as in `std::env::consts::ARCH`.
    pub arch: String,
}

/// One run of a scenario on one JDK.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The version of the VM.
    pub version: String,
    /// The seed of its first program.
    pub seed: u64,
    /// How long its programs ran, in seconds.
    pub seconds: f64,
}

/// How a program was run. Only equal programs can be compared.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Program {
    /// The flags of the VM.
    pub flags: String,
    /// How its hooks keep the trace stack.
    pub hooks: Hooking,
    /// The work of the program, without times and folders.
    pub work: String,
}

/// Samples of one platform.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Set {
    /// The samples.
    pub samples: Vec<Sample>,
    /// The programs by name.
    pub programs: BTreeMap<String, Program>,
    /// The count of each cell in each sample. An absent cell counts as 0.
    pub counts: BTreeMap<Cell, Vec<u64>>,
    /// How the counts of a program divide among the kinds of instants at which walkers were asked (see
    /// [`InstantCount`](crate::record::InstantCount)), where that is known.
    pub instants: BTreeMap<Cell, BTreeMap<String, Vec<u64>>>,
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JDK {} {}", self.feature, self.arch)
    }
}

impl FromStr for Platform {
    type Err = String;

    fn from_str(text: &str) -> Result<Platform, String> {
        let parse = || {
            let (feature, arch) = text.strip_prefix("JDK ")?.split_once(' ')?;
            Some(Platform {
                feature: feature.parse().ok()?,
                arch: arch.into(),
            })
        };
        parse().ok_or_else(|| format!("`{text}` is no platform as `JDK 17 x86_64`"))
    }
}

impl Set {
    /// Adds how a program was run. Fails if the program was run in another way before.
    pub(super) fn know(&mut self, name: &str, program: Program) -> Result<(), String> {
        match self.programs.get(name) {
            None => _ = self.programs.insert(name.into(), program),
            Some(known) if *known == program => {}
            Some(known) => {
                return Err(format!("{name} was run in two ways: {known} and {program}"));
            }
        }
        Ok(())
    }

    /// Adds the samples of `other`. Fails if a program was run in another way, or if a sample is
    /// here already.
    pub fn append(&mut self, other: Set) -> Result<(), String> {
        for (name, program) in other.programs {
            self.know(&name, program)?;
        }
        if let Some(twice) = other
            .samples
            .iter()
            .find(|sample| self.samples.contains(sample))
        {
            return Err(format!("one run is there twice: {twice}"));
        }
        let (before, more) = (self.samples.len(), other.samples.len());
        for counts in self.counts.values_mut() {
            counts.resize(before + more, 0);
        }
        for (cell, counts) in other.counts {
            let all = self
                .counts
                .entry(cell)
                .or_insert_with(|| vec![0; before + more]);
            all[before..].copy_from_slice(&counts);
        }
        for counts in self.instants.values_mut().flat_map(BTreeMap::values_mut) {
            counts.resize(before + more, 0);
        }
        for (cell, kinds) in other.instants {
            let known = self.instants.entry(cell).or_default();
            for (kind, counts) in kinds {
                let all = known.entry(kind).or_insert_with(|| vec![0; before + more]);
                all[before..].copy_from_slice(&counts);
            }
        }
        self.samples.extend(other.samples);
        Ok(())
    }

    /// The counts of a cell, with their trials.
    pub(in crate::gate) fn series(&self, cell: &Cell) -> Series {
        let runs = 0..self.samples.len();
        Series::new(runs.map(|run| (self.count_in(cell, run), self.trials_in(cell, run) as f64)))
    }

    /// The count of a cell in one sample.
    pub(super) fn count_in(&self, cell: &Cell, sample: usize) -> u64 {
        self.counts.get(cell).map_or(0, |counts| counts[sample])
    }

    /// The count of a cell at one kind of instant, over all samples.
    pub(in crate::gate) fn count_at(&self, cell: &Cell, instant: &str) -> u64 {
        let kinds = self.instants.get(cell);
        let counts = kinds.and_then(|kinds| kinds.get(instant));
        counts.map_or(0, |counts| counts.iter().sum())
    }

    /// How often walkers were asked at a place of errors; `None` if the samples do not tell kinds of instants.
    pub(in crate::gate) fn asked_at(&self, cell: &Cell, place: &str) -> Option<u64> {
        let trials = cell.trials()?;
        let of_programs = self.programs.keys().map(|name| trials.of_program(name));
        let told: Vec<_> = of_programs
            .filter_map(|cell| self.instants.get(&cell))
            .collect();
        let kinds = told.iter().copied().flatten();
        let there = kinds.filter(|(kind, _)| InstantCount::is_place(kind, place));
        let asked = there.flat_map(|(_, counts)| counts).sum();
        (!told.is_empty()).then_some(asked)
    }

    /// Forgets the places of kinds of instants, and the kinds with fewer trials than `least` in their program.
    pub(super) fn forget_rare_instants(&mut self, least: u64) {
        self.instants.retain(|cell, _| cell.place.is_none());
        let trials = |cell: &Cell| cell.trials().unwrap_or_else(|| cell.clone());
        let rare = |cell: &Cell, kind: &str| self.count_at(&trials(cell), kind) < least;
        let all = self.instants.iter();
        let rare: Vec<(Cell, String)> = all
            .flat_map(|(cell, kinds)| kinds.keys().map(move |kind| (cell, kind)))
            .filter(|(cell, kind)| rare(cell, kind))
            .map(|(cell, kind)| (cell.clone(), kind.clone()))
            .collect();
        for (cell, kind) in rare {
            if let Some(kinds) = self.instants.get_mut(&cell) {
                kinds.remove(&kind);
            }
        }
        self.instants.retain(|_, kinds| !kinds.is_empty());
    }

    /// The trials of a cell in one sample.
    pub(super) fn trials_in(&self, cell: &Cell, sample: usize) -> u64 {
        cell.trials()
            .map_or(0, |trials| self.count_in(&trials, sample))
    }

    /// The count of a cell over all samples.
    pub(in crate::gate) fn total(&self, cell: &Cell) -> u64 {
        self.counts
            .get(cell)
            .map_or(0, |counts| counts.iter().sum())
    }

    /// The events of a cell and their trials, over all samples.
    pub(in crate::gate) fn sum(&self, cell: &Cell) -> (u64, u64) {
        let trials = cell.trials().map_or(0, |trials| self.total(&trials));
        (self.total(cell), trials)
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sample {
            version,
            seed,
            seconds,
        } = self;
        write!(f, "{version}, seed {seed}, {seconds:.1} s")
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Program { flags, hooks, work } = self;
        write!(f, "flags `{flags}`, hooks {hooks}, work `{work}`")
    }
}
