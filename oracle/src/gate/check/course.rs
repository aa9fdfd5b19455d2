//! The pairs of a check so far.

use super::bound::{Both, NotWorse};
use super::classes::Classes;
use super::percent::percent;
use super::shares::share;
use super::sign::SignTest;
use super::strata::{Counts, alike, different_libraries};
use super::tolerance::{Tolerance, is_missing};
use crate::Layer;
use crate::gate::baseline::{Cell, Family, Set, What};
use crate::record::Statement;
use crate::report::{Report, Run};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What one turn counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn(Set);

impl Turn {
    /// The counts of a run of `report`. Fails if a program was run in two ways.
    pub fn new(report: &Report, run: &Run) -> Result<Turn, String> {
        let mut set = Set::of_run(report, run)?;
        // A thread that steps may stay in one loop for a whole turn: how often an instruction was seen says nothing.
        let by_instruction = |cell: &Cell| {
            Layer::of_steps().all(|layer| cell.layer != layer)
                || cell.what.trials().is_none()
                || is_by_instruction(cell)
        };
        set.counts.retain(|cell, _| by_instruction(cell));
        Ok(Turn::of(set))
    }

    /// The counts of a set, and of what its samplers do not say of their stacks.
    pub(super) fn of(mut set: Set) -> Turn {
        let stacks: Vec<Cell> = set
            .counts
            .keys()
            .filter(|cell| cell.what == What::Stacks && cell.is_of_all_programs())
            .cloned()
            .collect();
        for stacks in stacks {
            for statement in Statement::ALL.into_iter().filter(|it| it.is_of_stacks()) {
                let cell = |what| Cell {
                    what,
                    ..stacks.clone()
                };
                let said = set.total(&cell(What::Stated(statement)));
                let unsaid = set.total(&stacks).saturating_sub(said);
                set.count(cell(What::Unsaid(statement)), unsaid);
            }
        }
        Turn(set)
    }

    #[cfg(test)]
    pub(super) fn without(&mut self, layer: Layer) {
        self.0.counts.retain(|cell, _| cell.layer != layer);
    }

    /// Events of a cell.
    fn events(&self, cell: &Cell) -> u64 {
        self.0.total(cell)
    }
}

/// The groups of cells. Each has a part of the probability of a false alarm.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
enum Group {
    /// What a sampler says of its samples, summed over all programs: a few cells, which need not stand behind hundreds of kinds.
    Statements,
    /// Kinds, summed over all programs, in which the builds differ very much in the first pair that has them. They need not
    /// stand behind the others, either.
    Different,
    /// Other kinds, summed over all programs.
    Kinds,
    /// Kinds in one program.
    Programs,
    /// Places of kinds.
    Places,
}

impl Group {
    /// The group of a cell with these counts in the first pair that has it. Which side has more must not matter: the cell may be
    /// tested in this pair already.
    fn of(cell: &Cell, (one, other): (Counts, Counts)) -> Group {
        match (cell.is_of_all_programs(), &cell.place) {
            (_, Some(_)) => Group::Places,
            (true, None) if cell.what.family() == Family::Statements => Group::Statements,
            (true, None) if !is_by_instruction(cell) && is_far((one, other)) => Group::Different,
            (true, None) => Group::Kinds,
            (false, None) => Group::Programs,
        }
    }

    /// What the group has of the probability of a false alarm, and about how many cells a check finds in it. A kind of JFR comes
    /// after a hundred others, when JFR has its first turn, and must not pay for that. Equal builds hardly ever have a kind that
    /// is very different: on a busy machine, where a pair of JFR takes a minute, a dozen pairs must do.
    fn share(self) -> (f64, u32) {
        match self {
            Group::Statements => (0.07, 8),
            Group::Different => (0.35, 2),
            Group::Kinds => (0.3, 128),
            Group::Programs => (0.14, 512),
            Group::Places => (0.14, 512),
        }
    }
}

/// Rates are far from each other if they differ by so much.
const FAR: f64 = 0.1;

/// Rates of fewer trials are not compared with [`FAR`].
const ENOUGH: f64 = 50.0;

/// Whether the rates are far from each other, whichever is larger.
fn is_far((one, other): (Counts, Counts)) -> bool {
    let rate = |(events, trials): Counts| events / trials;
    one.1.min(other.1) >= ENOUGH && (rate(one) - rate(other)).abs() >= FAR
}

/// A cell, over all pairs.
#[derive(Clone, Debug)]
struct Tracked {
    group: Group,
    /// Its share of the probability of a false alarm.
    share: f64,
    test: SignTest,
    both: Both,
    /// The last pair in which the new build was worse.
    last: usize,
    /// Pairs since then that could have shown it, and in which neither build had it.
    silent: i32,
}

/// Something that is more frequent in the new build than in the base.
#[derive(Clone, Debug, PartialEq)]
pub struct Rise {
    /// The cell that shows it.
    pub cell: Cell,
    /// Its events and trials in the base's turns, as if both builds had been asked at the same kinds of instants. So they
    /// need not be whole.
    pub base: (f64, f64),
    /// The same in the turns of the new build.
    pub new: (f64, f64),
    /// Pairs in which the new build was worse, and pairs in which it was not.
    pub pairs: SignTest,
    /// The other cells that show the same kind: programs and places.
    pub others: Vec<Cell>,
}

/// For example `asgct-safepoint: wrong unexplained, 0.31 % of the checks and 0 % in the base (worse in 17 of 17
/// pairs that show it)`.
impl fmt::Display for Rise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell { layer, what, .. } = &self.cell;
        let SignTest { more, less } = self.pairs;
        if *what == What::Checks {
            let (new, base) = (self.new.0, self.base.0);
            write!(f, "{layer}: {new:.0} checks, where the base has {base:.0}")?;
        } else {
            let rate = |(n, of): Counts| percent(n / of.max(1.0));
            let of = what.trials().map_or(String::new(), |of| of.to_string());
            let (new, base) = (rate(self.new), rate(self.base));
            write!(f, "{layer}: {what}")?;
            self.cell
                .place
                .iter()
                .try_for_each(|place| write!(f, " at {place}"))?;
            write!(f, ", {new} of the {of}, in the base {base}")?;
        }
        if !self.cell.is_of_all_programs() {
            write!(f, ", in the program {}", self.cell.program)?;
        }
        write!(f, " (worse in {more} of {} pairs)", more + less)
    }
}

/// What looks worse, but is not sure yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspicion {
    /// What it is.
    pub rise: Rise,
    /// The last pair that shows it.
    pub pair: usize,
    /// The difference is so large that a pair or two will refute it if the builds are equal.
    pub is_clear: bool,
    /// By so much, in each of several pairs, equal builds hardly ever differ: each further pair refutes it or brings it close to
    /// an answer.
    pub is_steady: bool,
}

/// A cell with so many times the events that an honest build may have is a clear suspicion.
const CLEAR: f64 = 8.0;

/// A tolerance is wide if an honest build may have so much more, as a share.
const WIDE: f64 = 0.02;

/// What so many pairs in a row did not show again is not steady.
const MOST_SILENT: i32 = 3;

/// Whether a cell counts instructions. A thread that steps may stay in one loop for a whole turn, and is at each of its instructions in
/// the same state: hundreds of them in one turn tell no more than one.
fn is_by_instruction(cell: &Cell) -> bool {
    matches!(cell.what, What::FalseAt(_) | What::NoAnswerAt(_))
}

/// The pairs of a check so far.
#[derive(Clone, Debug)]
pub struct Course {
    alpha: f64,
    cells: BTreeMap<Cell, Tracked>,
    /// How many cells of each group were found.
    found: BTreeMap<Group, usize>,
    pairs: usize,
    /// The pairs in which both builds had checks of a layer.
    measured: BTreeMap<Layer, Vec<usize>>,
    /// Libraries that are not the same in both builds.
    different: BTreeSet<String>,
    /// The counts of false and missing answers.
    classes: Classes,
}

impl Course {
    /// No pair yet. Equal builds are called different with a probability of at most `alpha`, whenever one looks.
    pub fn new(alpha: f64) -> Course {
        Course {
            alpha,
            cells: BTreeMap::new(),
            found: BTreeMap::new(),
            pairs: 0,
            measured: BTreeMap::new(),
            different: BTreeSet::new(),
            classes: Classes::default(),
        }
    }

    /// The number of pairs.
    pub fn pairs(&self) -> usize {
        self.pairs
    }

    /// Adds a pair: two turns of the same program with the same seed, whose order a coin decided.
    pub fn add(&mut self, base: &Turn, new: &Turn) {
        self.find(base, new);
        let at = self.pairs;
        self.pairs += 1;
        for (cell, tracked) in &mut self.cells {
            let (of_base, of_new) = alike(cell, &base.0, &new.0);
            let worse = match cell.what {
                What::Checks => is_missing(new.events(cell), base.events(cell)),
                _ => Tolerance::of(&cell.what).and_then(|t| t.is_worse(of_new, of_base)),
            };
            // Only turns of its own program say something about a cell of one program.
            let Some(worse) = worse else {
                tracked.silent += i32::from(of_base.1 > 0.0 && of_new.1 > 0.0);
                continue;
            };
            tracked.test.add(worse);
            if worse {
                tracked.last = at;
                tracked.silent = 0;
            }
            let both = &mut tracked.both;
            both.base = (both.base.0 + of_base.0, both.base.1 + of_base.1);
            both.new = (both.new.0 + of_new.0, both.new.1 + of_new.1);
        }
        self.different.extend(different_libraries(&base.0, &new.0));
        for layer in self.classes.add(&base.0, &new.0) {
            self.measured.entry(layer).or_default().push(at);
        }
    }

    /// The pairs, from 0 on, in which both builds had checks of `layer`.
    pub fn pairs_with(&self, layer: Layer) -> &[usize] {
        self.measured.get(&layer).map_or(&[], Vec::as_slice)
    }

    /// The libraries outside of the JDKs of which the builds had different ones: instants in their code were not compared.
    pub fn different_libraries(&self) -> impl Iterator<Item = &str> {
        self.different.iter().map(String::as_str)
    }

    /// Finds the cells that no earlier pair had. Their order must not depend on the side that has them, so that
    /// they may be tested in this pair already.
    fn find(&mut self, base: &Turn, new: &Turn) {
        let cells: BTreeSet<&Cell> = base.0.counts.keys().chain(new.0.counts.keys()).collect();
        let is_tested =
            |cell: &Cell| cell.what == What::Checks || Tolerance::of(&cell.what).is_some();
        let unknown = cells
            .into_iter()
            .filter(|cell| is_tested(cell) && !self.cells.contains_key(cell));
        let mut unknown: Vec<&Cell> = unknown.collect();
        unknown.sort_by_key(|cell| Reverse(base.events(cell) + new.events(cell)));
        for cell in unknown {
            let group = Group::of(cell, alike(cell, &base.0, &new.0));
            let rank = self.found.entry(group).or_default();
            let (of_group, usual) = group.share();
            let tracked = Tracked {
                group,
                share: of_group * share(*rank, usual),
                test: SignTest::default(),
                both: Both::default(),
                last: 0,
                silent: 0,
            };
            *rank += 1;
            self.cells.insert(cell.clone(), tracked);
        }
    }

    /// How much worse the new build may still be, by layer and class.
    pub fn not_worse(&self) -> Vec<NotWorse> {
        self.classes.not_worse()
    }

    /// The bound without the noisiest causes, which must not be above `limit`.
    pub fn without_noise(&self, bound: &NotWorse, limit: f64) -> Option<NotWorse> {
        self.classes.without_noise(bound, limit)
    }

    /// What is worse for sure, by kind: false stacks first, then missing answers, then what could not be judged.
    pub fn rises(&self) -> Vec<Rise> {
        let sure = |tracked: &&Tracked| tracked.ln_weight() >= -self.alpha.ln();
        let mut sure: Vec<(&Cell, &Tracked)> = self
            .cells
            .iter()
            .filter(|(_, tracked)| sure(tracked))
            .collect();
        sure.sort_by(|(a, one), (b, other)| {
            let group = |cell: &Cell, tracked: &Tracked| (cell.what.weight(), tracked.group);
            let by_weight = other.ln_weight().total_cmp(&one.ln_weight());
            group(a, one).cmp(&group(b, other)).then(by_weight)
        });
        let mut rises: Vec<Rise> = vec![];
        for (cell, tracked) in sure {
            let like =
                |rise: &&mut Rise| rise.cell.layer == cell.layer && rise.cell.what == cell.what;
            match rises.iter_mut().find(like) {
                Some(rise) => rise.others.push(cell.clone()),
                None => rises.push(tracked.rise(cell)),
            }
        }
        rises
    }

    /// What is most likely worse; `None` if nothing looks worse. More pairs of its program will decide.
    pub fn suspicion(&self) -> Option<Suspicion> {
        let suspects = self
            .cells
            .iter()
            .filter(|(_, tracked)| tracked.test.ln_evidence() > 0.0);
        let rated = suspects.map(|(cell, tracked)| {
            let times = tracked.times(&cell.what);
            let is_steady = tracked.is_steady(cell);
            let is_large = times >= CLEAR && (tracked.test.more > 1 || !is_by_instruction(cell));
            let is_clear = is_large || is_steady && tracked.test.more > 1;
            // With one or two pairs all have the same evidence: the largest difference is the likeliest mistake.
            let rank = tracked.ln_weight() + times.ln();
            (cell, tracked, (is_clear, is_steady), rank)
        });
        let (cell, tracked, (is_clear, is_steady), _) = rated
            .max_by(|(_, _, a, rank), (_, _, b, other)| a.cmp(b).then(rank.total_cmp(other)))?;
        Some(Suspicion {
            rise: tracked.rise(cell),
            pair: tracked.last,
            is_clear,
            is_steady: is_steady && tracked.test.more > 1,
        })
    }

    /// How many more pairs that are worse would make the strongest suspicion sure, if nothing is sure yet.
    pub fn missing(&self) -> f64 {
        let strongest = self.cells.values().map(Tracked::ln_weight);
        let strongest = strongest.fold(f64::NEG_INFINITY, f64::max);
        // Each such pair multiplies the evidence by 2 at most.
        ((-self.alpha.ln() - strongest) / std::f64::consts::LN_2).max(0.0)
    }
}

impl Tracked {
    /// The logarithm of the evidence, times the share of this cell.
    fn ln_weight(&self) -> f64 {
        self.test.ln_evidence() + self.share.ln()
    }

    fn rise(&self, cell: &Cell) -> Rise {
        Rise {
            cell: cell.clone(),
            base: self.both.base,
            new: self.both.new,
            pairs: self.test,
            others: vec![],
        }
    }

    /// Whether a kind with a wide tolerance was worse in each pair, or one whose rates are far from each other. In equal builds
    /// it hardly ever is, and the next pair of the program refutes it. If an answer that was frequent becomes twice as frequent, a comparison of the rates ranks it
    /// below rare answers, which are many times as frequent in a pair or two by chance.
    fn is_steady(&self, cell: &Cell) -> bool {
        let Both { base, new } = self.both;
        let is_wide = Tolerance::of(&cell.what).is_some_and(|tolerance| tolerance.share >= WIDE);
        let is_wide = is_wide || !is_by_instruction(cell) && is_far((base, new));
        let is_of_all = cell.is_of_all_programs() && cell.place.is_none();
        is_wide && is_of_all && self.test.less == 0 && self.silent < MOST_SILENT
    }

    /// How many times as many events as an honest build may have; half of it for each pair that did not show it again.
    fn times(&self, what: &What) -> f64 {
        let Both { base, new } = self.both;
        // One event more on each side: one against none is not much.
        let times = if *what == What::Checks {
            (base.0 + 1.0) / (new.0 + 1.0)
        } else {
            let usual = base.0 / base.1.max(1.0);
            let allowed = Tolerance::of(what).map_or(usual, |tolerance| tolerance.most(usual));
            (new.0 + 1.0) / (allowed * new.1 + 1.0)
        };
        times * 0.5f64.powi(self.silent)
    }
}
