//! One sample and the baseline's samples of its platform, cell by cell.

use super::change::{Alarm, Change};
use crate::gate::baseline::{Cell, Family, LEAST_AT_PLACE, Platform, Pools, Set, Standard, What};
use crate::gate::stats::dispersion::Series;
use crate::gate::stats::novelty::Novelty;
use crate::gate::stats::predict::Predicted;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// One sample and the baseline's samples of its platform.
pub(super) struct Pair<'a> {
    platform: &'a Platform,
    pub(super) base: &'a Set,
    pub(super) new: &'a Set,
    pools: Pools,
}

/// A cell in both directions.
pub(super) struct Tested {
    pub(super) rose: Change,
    pub(super) fell: Change,
}

/// Kinds that are new, or places of kinds.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub(super) enum Novel {
    Kinds,
    Places,
}

/// An error code is no regression unless it took so much more of a program's checks: how often codes
/// come depends on the load of the machine, in single programs by a multiple.
const LEAST_RISE_OF_ERRORS: f64 = 0.0075;

/// The same for errors at intact frames: few, whatever the load of the machine.
const LEAST_RISE_OF_REFUSALS: f64 = 0.0005;

/// The same for imprecise stacks, above what any run of the baseline had. One method that was compiled in another way makes most of
/// them: equal runs of a program had 0.01 % and 1.1 %.
const LEAST_RISE_OF_IMPRECISE: f64 = 0.02;

/// The same for checks that a layer could not judge, above what any run of the baseline had.
const LEAST_RISE_OF_UNJUDGED: f64 = 0.03;

/// A place of a known kind is an alarm if it has so many times the count of any run of the baseline,
/// and a new place's count on top. Places depend on what was compiled when, so they differ between
/// runs by more than any distribution tells. So a place whose cause was found must have so many times the count of
/// any new place in the baseline, whether the baseline has the place or not.
const TIMES_LARGEST: f64 = 4.0;

/// The largest count of fewer runs says less, so it counts more times.
const MANY_RUNS: f64 = 8.0;

impl<'a> Pair<'a> {
    pub(super) fn new(platform: &'a Platform, base: &'a Set, new: &'a Set) -> Pair<'a> {
        Pair {
            platform,
            base,
            new,
            pools: Pools::new(base),
        }
    }

    /// The counts of a cell in the baseline and in the new sample, both as if they had the same mix of programs.
    pub(super) fn series(&self, cell: &Cell) -> (Series, Series) {
        let standard = Standard::new(self.base, cell);
        (standard.series(self.base), standard.series(self.new))
    }

    /// What the baseline predicts for a cell in so many trials.
    pub(super) fn predicted(&self, cell: &Cell, base: &Series, trials: f64) -> Predicted {
        Predicted::new(base, self.pools.dispersion(cell, base), trials)
    }

    fn change(&self, cell: &Cell, alarm: Alarm, expected: f64, p: f64) -> Change {
        Change {
            platform: self.platform.clone(),
            cell: cell.clone(),
            alarm,
            new: self.new.sum(cell),
            base: self.base.sum(cell),
            runs: self.base.series(cell).len(),
            expected,
            p,
            programs: vec![],
        }
    }

    /// The counts of a cell's kind in each program, the largest first.
    pub(super) fn programs(&self, cell: &Cell) -> Vec<(String, u64)> {
        let of_program = |program: &String| {
            let cell = Cell::new(program, cell.layer, cell.what.clone());
            (program.clone(), self.new.total(&cell))
        };
        let mut programs: Vec<_> = self.new.programs.keys().map(of_program).collect();
        programs.retain(|(_, n)| *n > 0);
        programs.sort_by_key(|(_, n)| Reverse(*n));
        programs
    }

    /// All cells of kinds that some run of the baseline had, but for places.
    pub(super) fn rates(&self) -> Vec<Tested> {
        let cells = self.base.counts.keys().chain(self.new.counts.keys());
        let cells: BTreeSet<&Cell> = cells.filter(|cell| cell.place.is_none()).collect();
        cells
            .into_iter()
            .filter_map(|cell| self.rate(cell))
            .collect()
    }

    fn rate(&self, cell: &Cell) -> Option<Tested> {
        let (base, new) = self.series(cell);
        let (events, trials) = (new.events(), new.trials());
        let is_new = self.base.sum(&cell.of_all_programs()).0 == 0;
        if trials == 0.0 || base.trials() == 0.0 || is_new {
            return None;
        }
        let predicted = self.predicted(cell, &base, trials);
        let (share, usual) = (events as f64 / trials, predicted.mean / trials);
        let is_large = match cell.what.family() {
            Family::Truth if cell.what == What::Imprecise => {
                share >= base.largest_share() + LEAST_RISE_OF_IMPRECISE
            }
            Family::Truth => true,
            Family::Answers => share >= usual + LEAST_RISE_OF_ERRORS,
            Family::Refusals => share >= usual + LEAST_RISE_OF_REFUSALS,
            Family::Statements | Family::Judging | Family::Strength => {
                share >= base.largest_share() + LEAST_RISE_OF_UNJUDGED
            }
        };
        let rose = if is_large {
            predicted.at_least(events)
        } else {
            1.0
        };
        Some(Tested {
            rose: self.change(cell, Alarm::Rose, predicted.mean, rose),
            fell: self.change(cell, Alarm::Fell, predicted.mean, predicted.at_most(events)),
        })
    }

    /// The kinds, or the places of kinds, that are new and large, over all programs.
    pub(super) fn novel(&self, novel: Novel, alpha: f64) -> Vec<Change> {
        let novelty = self.novelty(novel);
        let strict = novelty.limit(alpha) as f64;
        let cells = self.new.counts.keys().filter(|cell| novel.is_about(cell));
        let alarms = cells.filter_map(|cell| {
            let (n, trials) = self.new.sum(cell);
            let series = self.base.series(cell);
            let known = series.events() > 0;
            // Errors at a known place depend on the load of the machine by a multiple too.
            let of_load = cell.what.family() == Family::Answers;
            if known && (novel == Novel::Kinds || of_load) || self.is_unmet(cell, n, alpha) {
                return None;
            }
            let longer = (trials as f64 / series.usual_trials()).max(1.0);
            let times = TIMES_LARGEST * (MANY_RUNS / series.len().max(1) as f64).max(1.0);
            let usual = times * series.largest() as f64 * longer;
            let may_strike = novel == Novel::Places && cell.what.is_explained();
            let limit = if may_strike {
                strict.max(times * novelty.largest() as f64 * longer)
            } else {
                strict
            };
            let alarm = if known { Alarm::Rose } else { Alarm::New };
            let expected = trials as f64 * series.events() as f64 / series.trials().max(1.0);
            (n as f64 >= limit + usual)
                .then(|| self.change(cell, alarm, expected, novelty.at_least(n)))
        });
        alarms.collect()
    }

    /// Whether the baseline may have no error at a place because its runs were hardly ever there.
    fn is_unmet(&self, cell: &Cell, n: u64, alpha: f64) -> bool {
        let (What::Error(_), Some(place)) = (&cell.what, &cell.place) else {
            return false;
        };
        let asked = [self.base, self.new].map(|set| set.asked_at(cell, place));
        let [Some(base), Some(new)] = asked else {
            return false;
        };
        // If both are equal, all of n errors are in the report with at most this probability.
        let share = new as f64 / (base + new).max(1) as f64;
        share.powf(n as f64) > alpha
    }

    /// How many new kinds, or new places, the runs of the baseline had.
    pub(super) fn novelty(&self, novel: Novel) -> Novelty {
        let runs = self.base.samples.len();
        let mut sizes = vec![];
        // Of one run nobody knows what is usual.
        if runs > 1 {
            for (cell, counts) in &self.base.counts {
                let mut seen = counts.iter().copied().filter(|&n| n > 0);
                if let (true, Some(size), None) = (novel.is_about(cell), seen.next(), seen.next()) {
                    sizes.push(size);
                }
            }
        }
        Novelty::new(&sizes, runs, novel.least())
    }
}

impl Novel {
    fn is_about(self, cell: &Cell) -> bool {
        cell.is_of_all_programs()
            && cell.place.is_some() == (self == Novel::Places)
            && cell.what.trials() == Some(What::Checks)
    }

    /// From which count on they are looked at.
    fn least(self) -> u64 {
        match self {
            Novel::Kinds => 1,
            Novel::Places => LEAST_AT_PLACE,
        }
    }
}
