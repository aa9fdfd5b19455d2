//! The observer effect: what the same program shows with one kind of hooks, and not with another.
//!
//! Hooks change the program that they watch, and a mistake of a JVM may appear or vanish with them. So a report
//! with runs of the same program on the same JDK with several kinds of hooks compares their rates. Layers are
//! compared that ask one walker at one kind of place. A rate of zero comes with its upper bound, because not
//! having seen a mistake is no proof that it is not there.

use crate::bound::upper95;
use crate::probability::binomial;
use crate::record::CauseName;
use crate::report::{Report, Run};
use crate::{Hooking, Layer, LayerRow, ProgramKind, When};
use std::collections::{BTreeMap, BTreeSet};

/// The same program on the same JDK with several kinds of hooks.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The program, with the places of its runs on the axes that have nothing to do with hooks.
    pub program: String,
    /// The version of the JVM.
    pub jvm: String,
    /// What was seen at each kind of place.
    pub places: Vec<WalkerLayers>,
}

/// One walker at one kind of place: with and without hooks these are different layers.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkerLayers {
    /// The layers of each kind of hooks; no entry where the runs have no such layer.
    pub layers: BTreeMap<Hooking, BTreeSet<Layer>>,
    /// What was seen.
    pub rows: Vec<Row>,
}

/// How often something was seen with each kind of hooks.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was seen.
    pub what: What,
    /// By kind of hooks; an entry for each entry of [`WalkerLayers::layers`].
    pub seen: BTreeMap<Hooking, Occurrence>,
}

/// What a check may show.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub enum What {
    /// A truncated or wrong stack, of any cause.
    Mismatch,
    /// A truncated or wrong stack of this cause.
    OfCause(CauseName),
    /// An imprecise stack of this cause.
    Imprecise(CauseName),
    /// An error code of the walker.
    Code(i32),
}

/// How often something was seen in so many checks. Mismatches are seen in checks that compared a stack with a
/// truth; error codes in all checks whose answer was not lost.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Occurrence {
    /// How often.
    pub count: u64,
    /// In how many checks.
    pub checks: u64,
}

impl Occurrence {
    /// The rate; `None` without checks.
    pub fn rate(self) -> Option<f64> {
        (self.checks > 0).then(|| self.count as f64 / self.checks as f64)
    }

    /// The exact interval that holds the true rate with a probability of 95 %, if the checks are independent of each
    /// other. Of a count of zero it goes up to the one-sided bound.
    pub fn interval(self) -> (f64, f64) {
        if self.count == 0 {
            return (0.0, upper95(0, self.checks).unwrap_or(1.0));
        }
        binomial::rate(self.count, self.checks, 0.05).into_inner()
    }
}

/// The kind of hooks with which alone something was seen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Only {
    /// The kind of hooks.
    pub with: Hooking,
    /// Whether the checks with the other kinds were too few to say that the rates differ: the rate of this kind may
    /// be below one of their bounds.
    pub may_be_chance: bool,
}

impl Row {
    /// The kind of hooks that alone shows this; `None` if several do, or if no other kind has checks.
    pub fn only(&self) -> Option<Only> {
        let mut showing = self.seen.iter().filter(|(_, seen)| seen.count > 0);
        let (&with, seen) = showing.next()?;
        let others = || self.seen.iter().filter(|&(&other, _)| other != with);
        if showing.next().is_some() || !others().any(|(_, seen)| seen.checks > 0) {
            return None;
        }
        let lowest = seen.interval().0;
        let may_be_chance = others().any(|(_, other)| other.interval().1 >= lowest);
        Some(Only {
            with,
            may_be_chance,
        })
    }
}

/// What each program shows that ran with several kinds of hooks.
pub fn comparisons(report: &Report) -> Vec<Comparison> {
    let hooks_only = axes_of_hooks(&report.runs);
    let mut programs: BTreeMap<(String, &str), Vec<&Run>> = BTreeMap::new();
    for run in report.runs.iter().filter(|run| run.invalid.is_none()) {
        let mut axes = run.axes.clone();
        axes.retain(|axis, _| !hooks_only.contains(axis.as_str()) && axis != "repetition");
        let key = (
            crate::report::title(&run.scenario, &axes),
            report.jdk_of(run).version.as_str(),
        );
        programs.entry(key).or_default().push(run);
    }
    let compared = programs.into_iter().filter_map(|((program, jvm), runs)| {
        let ways: BTreeSet<_> = runs.iter().filter_map(|run| run.hooks).collect();
        (ways.len() > 1).then(|| Comparison {
            program,
            jvm: jvm.to_owned(),
            places: places(&runs),
        })
    });
    compared.collect()
}

/// The axes that stand for hooks: each value has one kind of hooks, and not all have the same.
fn axes_of_hooks(runs: &[Run]) -> BTreeSet<&str> {
    let mut ways: BTreeMap<&str, BTreeMap<&str, BTreeSet<Hooking>>> = BTreeMap::new();
    for run in runs {
        for (axis, value) in &run.axes {
            let of_value = ways.entry(axis).or_default().entry(value).or_default();
            of_value.extend(run.hooks);
        }
    }
    let stands = |values: &BTreeMap<&str, BTreeSet<Hooking>>| {
        let all: BTreeSet<_> = values.values().flatten().collect();
        all.len() > 1 && values.values().all(|of_value| of_value.len() == 1)
    };
    let standing = ways.into_iter().filter(|(_, values)| stands(values));
    standing.map(|(axis, _)| axis).collect()
}

/// Layers with one such key are compared.
#[derive(Clone, Copy, Eq, PartialEq)]
struct Key {
    walker: &'static str,
    when: When,
    /// A layer that every kind of program has is compared with itself alone.
    itself: Option<Layer>,
}

impl Key {
    /// `None` for layers of the hooks themselves, and of instants that only one kind of program has.
    fn of(row: &LayerRow) -> Option<Key> {
        Some(Key {
            walker: row.walker?,
            when: match row.when {
                // In the thread itself, which the VM can walk there.
                When::Check | When::Event => When::Check,
                When::Signal => When::Signal,
                _ => return None,
            },
            itself: (row.program == ProgramKind::Either).then_some(row.layer),
        })
    }
}

fn places(runs: &[&Run]) -> Vec<WalkerLayers> {
    let mut keys: Vec<Key> = vec![];
    for counts in runs.iter().flat_map(|run| &run.layers) {
        let key = Key::of(counts.layer.row());
        keys.extend(key.filter(|key| !keys.contains(key)));
    }
    keys.sort_by_key(|key| key.when == When::Signal);
    let places = keys.into_iter().map(|key| place(key, runs));
    places.filter(|place| place.layers.len() > 1).collect()
}

fn place(key: Key, runs: &[&Run]) -> WalkerLayers {
    let is_here = |layer: Layer| Key::of(layer.row()) == Some(key);
    let mut layers: BTreeMap<Hooking, BTreeSet<Layer>> = BTreeMap::new();
    let mut decided: BTreeMap<Hooking, u64> = BTreeMap::new();
    let mut answered: BTreeMap<Hooking, u64> = BTreeMap::new();
    let mut counts: BTreeMap<What, BTreeMap<Hooking, u64>> = BTreeMap::new();
    for run in runs {
        let Some(hooks) = run.hooks else { continue };
        let mut add = |what, count| {
            let by_hooks: &mut BTreeMap<_, _> = counts.entry(what).or_default();
            *by_hooks.entry(hooks).or_default() += count;
        };
        for of_layer in run.layers.iter().filter(|of| is_here(of.layer)) {
            let tally = of_layer.tally();
            layers.entry(hooks).or_default().insert(of_layer.layer);
            *decided.entry(hooks).or_default() += tally.decided();
            *answered.entry(hooks).or_default() += tally.checks() - tally.drops();
            add(What::Mismatch, tally.mismatches());
            for (&code, &count) in &tally.error {
                add(What::Code(code), count);
            }
        }
        for kind in run.kinds.iter().filter(|kind| is_here(kind.layer)) {
            let Some(cause) = kind.cause.clone() else {
                continue;
            };
            let what = match kind.verdict {
                crate::Verdict::Imprecise => What::Imprecise(cause),
                _ => What::OfCause(cause),
            };
            add(what, kind.count);
        }
    }
    let row = |(what, of_hooks): (What, BTreeMap<Hooking, u64>)| {
        let checks = match what {
            What::Code(_) => &answered,
            _ => &decided,
        };
        let seen = layers.keys().map(|hooks| {
            let get = |of: &BTreeMap<_, _>| of.get(hooks).copied().unwrap_or(0);
            let (count, checks) = (get(&of_hooks), get(checks));
            (*hooks, Occurrence { count, checks })
        });
        Row {
            what,
            seen: seen.collect(),
        }
    };
    let rows = counts.into_iter().map(row).collect();
    WalkerLayers { layers, rows }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::record::{KindCount, toy};
    use crate::report::{Exit, Jdk, LayerCounts};
    use crate::tally::Tally;

    fn run(program: &str, hooks: Hooking, layer: Layer, tally: Tally) -> Run {
        Run {
            hooks: Some(hooks),
            axes: BTreeMap::from([
                ("hooks".into(), hooks.name().into()),
                ("gc".into(), "g1".into()),
                ("repetition".into(), "1".into()),
            ]),
            kinds: vec![KindCount {
                layer,
                verdict: Verdict::Wrong,
                cause: Some(CauseName::new("leaf-call")),
                place: "A.b".into(),
                count: tally.wrong,
            }],
            layers: vec![LayerCounts::new(layer, &tally)],
            ..Run::new(program, Exit::Code(0))
        }
    }

    fn report(runs: Vec<Run>) -> Report {
        Report {
            scenario: "observer".into(),
            jdk: Jdk {
                version: "17.0.1".into(),
                ..Jdk::default()
            },
            planned: 3,
            ..toy::report(runs)
        }
    }

    fn tally(matches: u64, wrong: u64, codes: u64) -> Tally {
        Tally {
            matches,
            wrong,
            unverifiable: 7,
            dropped: BTreeMap::from([(crate::tally::Drop::TooDeep, 2)]),
            error: BTreeMap::from([(-5, codes)]),
            ..Tally::default()
        }
    }

    #[test]
    fn kinds_of_hooks_are_compared_at_the_same_kind_of_place() {
        let runs = vec![
            run("p", Hooking::Exact, Layer::AsgctAsync, tally(9_990, 10, 3)),
            run("p", Hooking::Light, Layer::AsgctAsync, tally(1_000, 0, 0)),
            run("p", Hooking::None, Layer::CallEdge, tally(100_000, 0, 8)),
            run("p", Hooking::None, Layer::AsgctEvent, tally(100, 0, 0)),
            run("q", Hooking::Exact, Layer::AsgctAsync, tally(5, 5, 5)),
        ];
        let found = comparisons(&report(runs));
        let [of_p] = &found[..] else {
            panic!("{found:#?}")
        };
        assert_eq!((&*of_p.program, &*of_p.jvm), ("p[gc=g1]", "17.0.1"));
        // Nothing with hooks was seen where `asgct-event` asks.
        let [place] = &of_p.places[..] else {
            panic!("{of_p:#?}")
        };
        let layers: Vec<_> = place.layers.values().flatten().copied().collect();
        assert_eq!(
            layers,
            [Layer::CallEdge, Layer::AsgctAsync, Layer::AsgctAsync]
        );
        let whats: Vec<_> = place.rows.iter().map(|row| row.what.clone()).collect();
        let cause = What::OfCause(CauseName::new("leaf-call"));
        assert_eq!(whats, [What::Mismatch, cause, What::Code(-5)]);
        for row in &place.rows[..2] {
            let exact = row.seen[&Hooking::Exact];
            assert_eq!((exact.count, exact.checks), (10, 10_000));
            // A thousand checks with light hooks may have missed a rate of a thousandth.
            let only = Only {
                with: Hooking::Exact,
                may_be_chance: true,
            };
            assert_eq!(row.only(), Some(only));
        }
        let codes = &place.rows[2];
        let seen = codes.seen[&Hooking::Exact];
        assert_eq!((seen.count, seen.checks), (3, 10_008));
        assert_eq!(codes.only(), None);
    }

    #[test]
    fn what_one_kind_alone_shows_is_sure_if_the_others_had_checks_enough() {
        let seen = |count, checks| Occurrence { count, checks };
        let row = |exact, none| Row {
            what: What::Mismatch,
            seen: BTreeMap::from([(Hooking::Exact, exact), (Hooking::None, none)]),
        };
        let only = |row: Row| row.only().map(|only| (only.with, only.may_be_chance));
        let many = row(seen(0, 50_515), seen(10_503, 12_131));
        assert_eq!(only(many), Some((Hooking::None, false)));
        assert_eq!(
            only(row(seen(0, 10), seen(1, 10))),
            Some((Hooking::None, true))
        );
        // Without checks nothing is known of the other kind.
        assert_eq!(only(row(seen(0, 0), seen(5, 10))), None);
        assert_eq!(only(row(seen(1, 10), seen(5, 10))), None);
        assert_eq!(only(row(seen(0, 10), seen(0, 10))), None);
    }

    #[test]
    fn nothing_seen_has_a_bound() {
        let none = Occurrence {
            count: 0,
            checks: 1_000_000,
        };
        let (low, high) = none.interval();
        assert_eq!((low, none.rate()), (0.0, Some(0.0)));
        assert!((2.9e-6..3.1e-6).contains(&high), "{high}");
        assert_eq!(Occurrence::default().rate(), None);
        assert_eq!(Occurrence::default().interval(), (0.0, 1.0));
    }
}
