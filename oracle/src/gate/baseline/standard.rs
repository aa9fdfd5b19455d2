//! Sums over programs, as if each run had the baseline's mix of programs.
//!
//! A kind of event belongs to few programs, and in them it may be frequent. How many checks each program makes
//! depends on the machine's load: a run in which these programs had a larger part of the checks has more events
//! among all checks, although no program has become worse. So a trial counts for the baseline's rate in its
//! program by the baseline's rate in all programs, and the events that are expected follow the trials of each
//! program (indirect standardisation: Breslow and Day, Statistical Methods in Cancer Research II, 1987, chapter
//! 2).

use super::cell::{Cell, Family};
use super::set::Set;
use crate::Layer;
use crate::gate::stats::dispersion::{Pool, Series};
use std::collections::BTreeMap;

/// What a trial of each program counts for, for one cell.
pub(in crate::gate) struct Standard<'a> {
    cell: &'a Cell,
    weights: BTreeMap<Cell, f64>,
}

/// The event that nobody has seen yet, in any program: half of one, as in Jeffreys' prior.
const UNSEEN: f64 = 0.5;

impl<'a> Standard<'a> {
    /// By the rates of a baseline. Of a place nobody knows how many events each program had: its trials count
    /// as they are, and so do those of a single program.
    pub fn new(base: &Set, cell: &'a Cell) -> Standard<'a> {
        let mut weights = BTreeMap::new();
        let (events, trials) = base.sum(cell);
        if cell.is_of_all_programs() && cell.place.is_none() && trials > 0 {
            let rate = |events: u64, trials: u64| events as f64 / trials as f64;
            let unseen = UNSEEN / trials as f64;
            for name in base.programs.keys() {
                let program = cell.of_program(name);
                let (of_program, its_trials) = base.sum(&program);
                if its_trials > 0 {
                    let weight =
                        (rate(of_program, its_trials) + unseen) / (rate(events, trials) + unseen);
                    weights.insert(program, weight);
                }
            }
        }
        Standard { cell, weights }
    }

    /// The cell's events and standardised trials in each sample of a set.
    pub fn series(&self, set: &Set) -> Series {
        let runs = 0..set.samples.len();
        Series::new(runs.map(|run| (set.count_in(self.cell, run), self.trials(set, run))))
    }

    fn trials(&self, set: &Set, run: usize) -> f64 {
        let plain = set.trials_in(self.cell, run) as f64;
        let more =
            |(program, weight): (&Cell, &f64)| set.trials_in(program, run) as f64 * (weight - 1.0);
        plain + self.weights.iter().map(more).sum::<f64>()
    }
}

/// What the cells of each layer and family of a set show of their dispersion.
pub(in crate::gate) fn pools(set: &Set) -> BTreeMap<(Layer, Family), Pool> {
    let mut shown: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for cell in set.counts.keys() {
        if let Some(of_cell) = Standard::new(set, cell).series(set).shown() {
            let family = (cell.layer, cell.what.family());
            shown.entry(family).or_default().push(of_cell);
        }
    }
    shown
        .into_iter()
        .map(|(family, shown)| (family, Pool::new(shown)))
        .collect()
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
        assert_eq!(trials(&base, &kind("often"), &new), 10.0);
        let place = Cell {
            place: Some("a.B.c".into()),
            ..kind(Cell::ALL_PROGRAMS)
        };
        assert_eq!(trials(&base, &place, &new), 3010.0);
    }
}
