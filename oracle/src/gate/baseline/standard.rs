//! Counts, as if each run had the baseline's mix of programs and of instants.
//!
//! A kind of event belongs to few programs and to few kinds of instants, and there it may be frequent. How many checks each
//! program makes, and at which instants its threads are met, depends on the machine and its load: a run in which these had a
//! larger part of the checks has more events among all checks, although no JVM has become worse. So a trial counts for the
//! baseline's rate in its program at its kind of instant by the baseline's rate in all, and the events that are expected follow the trials of each
//! (indirect standardisation: Breslow and Day, Statistical Methods in Cancer Research II, 1987, chapter 2). At a kind of
//! instant that the baseline has never met, nothing is expected and nothing is counted.

use super::cell::{Cell, Family};
use super::set::Set;
use crate::Layer;
use crate::gate::stats::dispersion::{Pool, Series};
use std::collections::BTreeMap;

/// What a trial of each program counts for, for one cell.
pub(in crate::gate) struct Standard<'a> {
    cell: &'a Cell,
    programs: Vec<Program>,
}

/// One program's part.
struct Program {
    cell: Cell,
    trials: Cell,
    /// What a trial counts for whose instant is not known.
    weight: f64,
    /// What a trial counts for at each kind of instant that the baseline has met; `None` if it does not tell them.
    instants: Option<BTreeMap<String, f64>>,
}

/// The event that nobody has seen yet, in any program: half of one, as in Jeffreys' prior.
const UNSEEN: f64 = 0.5;

/// So many trials at the program's rate are added at each kind of instant: of one that was met once nobody knows a rate.
const PRIOR: f64 = 20.0;

impl<'a> Standard<'a> {
    /// By the rates of a baseline. Of a place nobody knows how many events each program had: its trials count
    /// as they are.
    pub fn new(base: &Set, cell: &'a Cell) -> Standard<'a> {
        let (events, trials) = base.sum(cell);
        let mut programs = vec![];
        if cell.place.is_none() && trials > 0 {
            let unseen = UNSEEN / trials as f64;
            let all = events as f64 / trials as f64 + unseen;
            let names = base.programs.keys();
            let is_meant = |name: &&String| cell.is_of_all_programs() || **name == cell.program;
            for name in names.filter(is_meant) {
                programs.extend(Program::new(base, &cell.of_program(name), all, unseen));
            }
        }
        Standard { cell, programs }
    }

    /// The cell's events and standardised trials in each sample of a set.
    pub fn series(&self, set: &Set) -> Series {
        let runs = 0..set.samples.len();
        Series::new(runs.map(|run| (self.events(set, run), self.trials(set, run))))
    }

    fn events(&self, set: &Set, run: usize) -> u64 {
        let unmet = self.programs.iter().map(|of| of.unmet(set, &of.cell, run));
        set.count_in(self.cell, run).saturating_sub(unmet.sum())
    }

    fn trials(&self, set: &Set, run: usize) -> f64 {
        let plain = set.trials_in(self.cell, run) as f64;
        let more = |of: &Program| of.standard(set, run) - set.count_in(&of.trials, run) as f64;
        plain + self.programs.iter().map(more).sum::<f64>()
    }
}

impl Program {
    /// The part of the program whose cell this is; `None` if the baseline has no trials of it. `all`: the rate of all programs.
    fn new(base: &Set, cell: &Cell, all: f64, unseen: f64) -> Option<Program> {
        let trials = cell.trials()?;
        let (events, of_program) = base.sum(cell);
        if of_program == 0 {
            return None;
        }
        let rate = events as f64 / of_program as f64 + unseen;
        let weight = |events: u64, trials: u64| {
            let rate = (events as f64 + PRIOR * rate) / (trials as f64 + PRIOR);
            rate / all
        };
        let told = cell.what.is_told_by_instant();
        let kinds = base.instants.get(&trials).filter(|_| told);
        let instants = kinds.map(|kinds| {
            let of_kind = kinds.keys().map(|kind| {
                let weight = weight(base.count_at(cell, kind), base.count_at(&trials, kind));
                (kind.clone(), weight)
            });
            of_kind.collect()
        });
        Some(Program {
            cell: cell.clone(),
            trials,
            weight: rate / all,
            instants,
        })
    }

    /// The standardised trials of a sample.
    fn standard(&self, set: &Set, run: usize) -> f64 {
        let all = set.count_in(&self.trials, run) as f64;
        let (Some(known), Some(kinds)) = (&self.instants, set.instants.get(&self.trials)) else {
            return all * self.weight;
        };
        let (mut told, mut standard) = (0.0, 0.0);
        for (kind, counts) in kinds {
            let trials = counts[run] as f64;
            told += trials;
            standard += trials * known.get(kind).copied().unwrap_or(0.0);
        }
        standard + (all - told).max(0.0) * self.weight
    }

    /// How many of a cell's counts are of kinds of instants that the baseline has never met.
    fn unmet(&self, set: &Set, cell: &Cell, run: usize) -> u64 {
        let (Some(known), Some(kinds)) = (&self.instants, set.instants.get(cell)) else {
            return 0;
        };
        let unmet = kinds.iter().filter(|(kind, _)| !known.contains_key(*kind));
        unmet.map(|(_, counts)| counts[run]).sum()
    }
}

/// What the cells of a set show of their dispersion.
#[derive(Debug)]
pub(in crate::gate) struct Pools {
    of_family: BTreeMap<(Layer, Family), Pool>,
    /// The largest dispersion that a known cause shows in a layer. A cause that comes in bursts does so in all layers and
    /// programs, also where the few runs of a baseline have had none yet.
    of_cause: BTreeMap<String, f64>,
}

impl Pools {
    /// The pools of a set.
    pub fn new(set: &Set) -> Pools {
        let mut shown: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let mut of_cause: BTreeMap<String, f64> = BTreeMap::new();
        for cell in set.counts.keys() {
            let Some(of_cell) = Standard::new(set, cell).series(set).shown() else {
                continue;
            };
            let family = (cell.layer, cell.what.family());
            shown.entry(family).or_default().push(of_cell);
            let is_whole = cell.is_of_all_programs() && cell.place.is_none();
            if let (true, Some(cause)) = (is_whole, cell.what.known_cause()) {
                let largest = of_cause.entry(cause.into()).or_default();
                *largest = largest.max(of_cell.phi());
            }
        }
        Pools {
            of_family: shown
                .into_iter()
                .map(|(family, shown)| (family, Pool::new(shown)))
                .collect(),
            of_cause,
        }
    }

    /// The dispersion of the counts of a cell, and its degrees of freedom.
    pub fn dispersion(&self, cell: &Cell, of: &Series) -> (f64, f64) {
        let nothing = Pool::default();
        let pool = self.of_family.get(&(cell.layer, cell.what.family()));
        let cause = cell.what.known_cause();
        let bursts = cause.and_then(|cause| self.of_cause.get(cause));
        pool.unwrap_or(&nothing)
            .dispersion(of, bursts.copied().unwrap_or(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hooking;
    use crate::gate::baseline::{Program, Sample, What};

    /// A run with two programs: checks and wrong stacks of each.
    fn run(seed: u64, programs: [(u64, u64); 2]) -> Set {
        let mut set = Set::default();
        set.samples.push(Sample {
            version: "17.0.1".into(),
            seed,
            seconds: 1.0,
        });
        for (name, (checks, wrong)) in ["often", "never"].into_iter().zip(programs) {
            let program = Program {
                flags: String::new(),
                hooks: Hooking::Exact,
                work: String::new(),
            };
            set.programs.insert(name.into(), program);
            set.count(Cell::new(name, Layer::AsgctAsync, What::Checks), checks);
            set.count(kind(name), wrong);
        }
        set.add_totals();
        set
    }

    fn kind(program: &str) -> Cell {
        Cell::new(program, Layer::AsgctAsync, What::Wrong("leaf-call".into()))
    }

    fn trials(base: &Set, cell: &Cell, new: &Set) -> f64 {
        Standard::new(base, cell).series(new).trials()
    }

    #[test]
    fn the_mix_of_the_baseline_leaves_trials_as_they_are() {
        let base = run(1, [(1000, 500), (3000, 0)]);
        let all = kind(Cell::ALL_PROGRAMS);
        for scale in [1, 2, 7] {
            let new = run(2, [(1000 * scale, 0), (3000 * scale, 0)]);
            assert!((trials(&base, &all, &new) - 4000.0 * scale as f64).abs() < 1e-6);
        }
    }

    #[test]
    fn trials_count_where_the_events_are() {
        let base = run(1, [(1000, 500), (3000, 0)]);
        let all = kind(Cell::ALL_PROGRAMS);
        let without = run(2, [(1000, 0), (0, 0)]);
        assert!((trials(&base, &all, &without) / 4000.0 - 1.0).abs() < 1e-3);
        let only = run(2, [(0, 0), (3000, 0)]);
        assert!(trials(&base, &all, &only) < 4.0);
    }

    #[test]
    fn a_program_and_a_place_have_plain_trials() {
        let base = run(1, [(1000, 500), (3000, 0)]);
        let new = run(2, [(10, 0), (3000, 0)]);
        assert!((trials(&base, &kind("often"), &new) - 10.0).abs() < 1e-9);
        let place = Cell {
            place: Some("a.B.c".into()),
            ..kind(Cell::ALL_PROGRAMS)
        };
        assert_eq!(trials(&base, &place, &new), 3010.0);
    }

    /// At each kind of instant so many checks and wrong stacks of one program.
    fn told(seed: u64, kinds: &[(&str, u64, u64)]) -> Set {
        let sum = |of: fn(&(&str, u64, u64)) -> u64| kinds.iter().map(of).sum();
        let mut set = run(seed, [(sum(|kind| kind.1), sum(|kind| kind.2)), (0, 0)]);
        for &(at, checks, wrong) in kinds {
            let trials = Cell::new("often", Layer::AsgctAsync, What::Checks);
            set.count_at_instant(trials, at, checks);
            set.count_at_instant(kind("often"), at, wrong);
        }
        set
    }

    #[test]
    fn trials_count_by_the_instants_of_the_baseline() {
        let base = told(1, &[("in Java", 9000, 0), ("in the VM", 1000, 500)]);
        let new = told(2, &[("in Java", 1000, 0), ("in the VM", 9000, 4500)]);
        for cell in [kind("often"), kind(Cell::ALL_PROGRAMS)] {
            let standard = Standard::new(&base, &cell);
            let expected = |set: &Set| {
                let series = standard.series(set);
                (series.events() as f64, series.trials() * 500.0 / 10_000.0)
            };
            let (events, mean) = expected(&base);
            assert!((events / mean - 1.0).abs() < 0.05, "{events} {mean}");
            let (events, mean) = expected(&new);
            assert!((events / mean - 1.0).abs() < 0.05, "{events} {mean}");
        }
    }

    #[test]
    fn what_the_baseline_has_never_met_is_not_counted() {
        let base = told(1, &[("in Java", 10_000, 100)]);
        let new = told(2, &[("in Java", 10_000, 100), ("in native", 5000, 5000)]);
        let cell = kind("often");
        let series = Standard::new(&base, &cell).series(&new);
        assert_eq!(series.events(), 100);
        assert!((series.trials() / 10_000.0 - 1.0).abs() < 0.01);
    }
}
