//! Two turns, as if both had asked at the same kinds of instants.
//!
//! Which mistakes a walker can make depends on what the thread did, and how often a thread is met doing it depends on the build:
//! a C library whose wake-up takes longer is met there more often, and with it all mistakes that a walker makes there, although no
//! walker has become worse. So each kind of instant is compared by itself. The rates of a turn are the mean over the kinds,
//! with the weights of Mantel and Haenszel: N M / (N + M) where one turn asked N times and the other M times (Statistical aspects
//! of the analysis of data from retrospective studies of disease, Journal of the National Cancer Institute 22, 1959; for the
//! difference of rates: Greenland and Robins, Biometrics 41, 1985). Kinds that one turn alone has met weigh nothing. The
//! weights do not depend on which turn is whose, so that equal builds can still be exchanged.

use crate::gate::baseline::{Cell, Set, What};
use crate::record::InstantCount;
use std::collections::{BTreeMap, BTreeSet};

/// Events of a cell and its trials. Where kinds of instants are weighted, they need not be whole.
pub(super) type Counts = (f64, f64);

/// The counts of a cell in two turns of one program.
pub(super) fn alike(cell: &Cell, one: &Set, other: &Set) -> (Counts, Counts) {
    if let Some(counts) = at_one_instant(cell, one, other) {
        return counts;
    }
    let plain = |set: &Set| {
        let (events, trials) = set.sum(cell);
        (events as f64, trials as f64)
    };
    alike_sum(std::slice::from_ref(cell), one, other).unwrap_or((plain(one), plain(other)))
}

/// The errors of a place among all checks there: their places are kinds of instants.
fn at_one_instant(cell: &Cell, one: &Set, other: &Set) -> Option<(Counts, Counts)> {
    let (What::Error(_), Some(place)) = (&cell.what, &cell.place) else {
        return None;
    };
    let trials = cell.trials()?.of_program(one.programs.keys().next()?);
    let is_there = |kind: &&String| InstantCount::is_place(kind, place);
    let kinds = |set: &Set| {
        let kinds = set.instants.get(&trials)?.keys().filter(is_there);
        Some(kinds.cloned().collect::<BTreeSet<String>>())
    };
    let (mine, theirs) = (kinds(one)?, kinds(other)?);
    if mine != theirs {
        // Another library has this name, or one turn was never there: there is nothing to compare.
        return Some(((0.0, 0.0), (0.0, 0.0)));
    }
    let counts = |set: &Set| {
        let asked: u64 = mine.iter().map(|kind| set.count_at(&trials, kind)).sum();
        (set.total(cell) as f64, asked as f64)
    };
    Some((counts(one), counts(other)))
}

/// The libraries of whose code the turns had different builds, which are not compared.
pub(super) fn different_libraries(one: &Set, other: &Set) -> BTreeSet<String> {
    let builds = |set: &Set| {
        let mut builds: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for kind in set.instants.values().flat_map(BTreeMap::keys) {
            let code = kind.rsplit(", ").next().unwrap_or(kind);
            let library = InstantCount::without_build(code);
            if library != code {
                builds
                    .entry(library.into())
                    .or_default()
                    .insert(code.into());
            }
        }
        builds
    };
    let (mine, theirs) = (builds(one), builds(other));
    let differs = |(name, build): (&String, &BTreeSet<String>)| {
        let other = theirs.get(name)?;
        (build != other).then(|| name.clone())
    };
    mine.iter().filter_map(differs).collect()
}

/// The same for the sum of cells that have the same trials; `None` if a turn does not tell its kinds of instants.
pub(super) fn alike_sum(cells: &[Cell], one: &Set, other: &Set) -> Option<(Counts, Counts)> {
    let program = one.programs.keys().next()?;
    let is_told = |cell: &Cell| {
        let is_of_program = cell.is_of_all_programs() || cell.program == *program;
        is_of_program && cell.what.is_told_by_instant()
    };
    if !cells.iter().all(is_told) {
        return None;
    }
    let trials = cells.first()?.trials()?.of_program(program);
    let cells: Vec<Cell> = cells.iter().map(|cell| cell.of_program(program)).collect();
    let [kinds, others] = [one, other].map(|set| set.instants.get(&trials));
    let kinds: BTreeSet<&String> = kinds?.keys().chain(others?.keys()).collect();
    let (mut weights, mut rates, mut squares) = (0.0, [0.0; 2], [0.0; 2]);
    for kind in kinds {
        let of = |set: &Set, cell: &Cell| set.count_at(cell, kind) as f64;
        let asked = [one, other].map(|set| of(set, &trials));
        let [n, m] = asked;
        if n == 0.0 || m == 0.0 {
            continue;
        }
        let weight = n * m / (n + m);
        weights += weight;
        for (at, set) in [one, other].into_iter().enumerate() {
            let events: f64 = cells.iter().map(|cell| of(set, cell)).sum();
            rates[at] += weight * events / asked[at];
            squares[at] += weight * weight / asked[at];
        }
    }
    // A mean with these weights varies as that of so many plain trials.
    let counts = |at: usize| {
        if weights == 0.0 {
            return (0.0, 0.0);
        }
        let trials = weights * weights / squares[at];
        (rates[at] / weights * trials, trials)
    };
    Some((counts(0), counts(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hooking;
    use crate::Layer;
    use crate::gate::baseline::{Program, Sample};
    use proptest::prelude::*;

    /// A turn: at each kind of instant so many checks, and of them so many wrong stacks.
    fn turn(kinds: &[(u64, u64)]) -> Set {
        let mut set = Set::default();
        set.samples.push(Sample {
            version: "17.0.1".into(),
            seed: 1,
            seconds: 1.0,
        });
        let program = Program {
            flags: String::new(),
            hooks: Hooking::Exact,
            work: String::new(),
        };
        set.programs.insert("p".into(), program);
        for (kind, &(checks, wrong)) in kinds.iter().enumerate() {
            for (what, n) in [(What::Checks, checks), (wrong_stacks(), wrong)] {
                let cell = Cell::new("p", Layer::AsgctAsync, what);
                set.count(cell.clone(), n);
                set.count_at_instant(cell, &kind.to_string(), n);
            }
        }
        set.add_totals();
        set
    }

    fn wrong_stacks() -> What {
        What::Wrong("leaf-call".into())
    }

    fn rates(one: &[(u64, u64)], other: &[(u64, u64)]) -> (f64, f64) {
        let cell = Cell::new(Cell::ALL_PROGRAMS, Layer::AsgctAsync, wrong_stacks());
        let (one, other) = alike(&cell, &turn(one), &turn(other));
        (one.0 / one.1, other.0 / other.1)
    }

    #[test]
    fn another_mix_of_instants_is_no_difference() {
        let (one, other) = rates(&[(900, 0), (100, 50)], &[(100, 0), (900, 450)]);
        assert!((one - other).abs() < 1e-12, "{one} {other}");
    }

    #[test]
    fn one_mix_gives_the_plain_rates() {
        let (one, other) = rates(&[(300, 3), (700, 70)], &[(600, 30), (1400, 0)]);
        assert!((one - 0.073).abs() < 1e-12 && (other - 0.015).abs() < 1e-12);
    }

    #[test]
    fn a_mistake_at_one_kind_of_instant_shows() {
        let (one, other) = rates(&[(900, 0), (100, 50)], &[(100, 0), (900, 0)]);
        assert!(one > 0.1 && other == 0.0, "{one} {other}");
    }

    #[test]
    fn builds_of_a_library_are_not_compared() {
        let renamed = |build: &str| {
            let mut set = turn(&[(900, 3), (100, 50)]);
            for kinds in set.instants.values_mut() {
                let counts = kinds.remove("1").expect("it is there");
                let code = InstantCount::of_build("libc.so.6", build);
                kinds.insert(format!("in Java, {code}"), counts);
            }
            set
        };
        let cell = Cell::new(Cell::ALL_PROGRAMS, Layer::AsgctAsync, wrong_stacks());
        let (one, two) = (renamed("1f"), renamed("2e"));
        let (mine, theirs) = alike(&cell, &one, &two);
        assert!((mine.0 - 3.0).abs() < 1e-9 && mine == theirs, "{mine:?}");
        assert!(different_libraries(&one, &one).is_empty());
        assert!(different_libraries(&one, &two).iter().eq(["libc.so.6"]));
    }

    proptest! {
        #[test]
        fn the_turns_can_be_exchanged(
            one in prop::collection::vec((1u64..500, 0u64..50), 1..6),
            other in prop::collection::vec((1u64..500, 0u64..50), 1..6),
        ) {
            let (a, b) = rates(&one, &other);
            let (d, c) = rates(&other, &one);
            prop_assert!((a - c).abs() < 1e-9 && (b - d).abs() < 1e-9);
        }
    }
}
