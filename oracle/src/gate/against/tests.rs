//! The gate on simulated runs: how often it fails honest JVMs, and what it fails of false ones.

use super::change::Change;
use super::judge::{Against, Judging};
use super::power::Detect;
use crate::Hooking;
use crate::Layer;
use crate::gate::baseline::{Cell, Platform, Program, Sample, Set, What};
use crate::record::CauseName;

/// A generator of random numbers that gives the same ones in each run of the tests (xorshift64*,
/// Marsaglia, Xorshift RNGs, Journal of Statistical Software 8, 2003).
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// By waiting times.
    fn poisson(&mut self, mean: f64) -> u64 {
        let (mut events, mut time) = (0, -self.uniform().ln());
        while time < mean {
            events += 1;
            time -= self.uniform().ln();
        }
        events
    }

    /// Clusters of geometric sizes, so many on average that the mean is `mean`.
    fn clustered(&mut self, mean: f64, size: f64) -> u64 {
        let clusters = self.poisson(mean / size);
        let mut sum = 0;
        for _ in 0..clusters {
            sum += 1;
            while self.uniform() > 1.0 / size {
                sum += 1;
            }
        }
        sum
    }
}

const CHECKS: u64 = 20_000;
const PROGRAMS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// Kinds with the mean of their counts and the mean size of their clusters.
const KINDS: [(&str, f64, f64); 7] = [
    ("rare", 0.1, 1.0),
    ("rare-clusters", 0.3, 4.0),
    ("some", 4.0, 1.0),
    ("some-clusters", 8.0, 5.0),
    ("many", 60.0, 1.2),
    ("many-clusters", 90.0, 3.0),
    ("most", 400.0, 2.0),
];

fn wrong(program: &str, cause: &str) -> Cell {
    Cell::new(program, Layer::AsgctAsync, What::Wrong(cause.into()))
}

/// A run without counts.
fn empty(seed: u64) -> Set {
    let mut set = Set::default();
    set.samples.push(Sample {
        version: "17.0.1".into(),
        seed,
        seconds: 60.0,
    });
    for name in PROGRAMS {
        let program = Program {
            flags: String::new(),
            hooks: Hooking::Exact,
            work: String::new(),
        };
        set.programs.insert(name.into(), program);
    }
    set
}

/// A run of an honest JVM whose rates are those of every other run.
fn honest(random: &mut Random, seed: u64) -> Set {
    let mut set = empty(seed);
    for name in PROGRAMS {
        // No machine makes equally many checks each time.
        let checks = (CHECKS as f64 * (0.8 + 0.4 * random.uniform())) as u64;
        set.count(Cell::new(name, Layer::AsgctAsync, What::Checks), checks);
        for (kind, mean, size) in KINDS {
            let mean = mean * checks as f64 / CHECKS as f64;
            set.count(wrong(name, kind), random.clustered(mean, size));
        }
    }
    set
}

/// With the sums over all programs.
fn whole(mut set: Set) -> Set {
    set.add_totals();
    set
}

/// The baseline of so many runs, each made by its seed.
fn gathered(runs: u64, mut run: impl FnMut(u64) -> Set) -> Set {
    let mut base = Set::default();
    for seed in 0..runs {
        let run = whole(run(seed));
        base.append(run).expect("runs with seeds of their own");
    }
    base
}

fn baseline(random: &mut Random, runs: u64) -> Set {
    gathered(runs, |seed| honest(random, seed))
}

fn judged(base: &Set, new: Set) -> Against {
    let platform = Platform {
        feature: 17,
        arch: "x86_64".into(),
    };
    Against::of(&[(&platform, base, &whole(new))], Judging { alpha: 0.01 })
}

fn fails(against: &Against) -> bool {
    against.changes.iter().any(|change| change.alarm.is_worse())
}

/// Equal runs of a program, in which one method is compiled in one of two ways, with so many imprecise stacks in 10,000 checks.
#[test]
fn a_method_that_was_compiled_in_another_way_makes_no_alarm() {
    let run = |seed: u64, imprecise: u64| {
        let mut set = empty(seed);
        let mut count = |what, n| set.count(Cell::new("a", Layer::AsgctAsync, what), n);
        count(What::Checks, 10_000);
        count(What::Imprecise, imprecise);
        set
    };
    let base = gathered(8, |seed| {
        run(seed, [4, 4, 2, 4, 1, 17, 2, 3][seed as usize])
    });
    assert!(!fails(&judged(&base, run(8, 105))));
    // A walker that takes the wrong record everywhere.
    assert!(fails(&judged(&base, run(8, 300))));
}

#[test]
fn honest_runs_seldom_fail() {
    let mut random = Random(20_261_122);
    let mut failed = 0;
    for seed in 0..200 {
        let base = baseline(&mut random, 8);
        failed += u32::from(fails(&judged(&base, honest(&mut random, 1000 + seed))));
    }
    // 2 are expected at 1 %; 8 or more come with probability 0.001.
    assert!(failed < 8, "{failed} of 200");
}

#[test]
fn a_short_baseline_is_no_reason_for_false_alarms() {
    let mut random = Random(7);
    let mut failed = 0;
    for seed in 0..100 {
        let base = baseline(&mut random, 3);
        failed += u32::from(fails(&judged(&base, honest(&mut random, 1000 + seed))));
    }
    assert!(failed < 8, "{failed} of 100");
}

/// A run in which half of the walks in program `a` are wrong, and no others. The other programs make so many checks.
fn half_of_one_program(random: &mut Random, seed: u64, others: u64, share: f64) -> Set {
    let mut run = empty(seed);
    for name in PROGRAMS {
        let checks = if name == "a" { 2_000 } else { others };
        run.count(Cell::new(name, Layer::AsgctAsync, What::Checks), checks);
    }
    run.count(wrong("a", "half"), random.poisson(2_000.0 * share));
    run
}

#[test]
fn another_mix_of_programs_is_no_change() {
    let mut random = Random(17);
    let base = gathered(8, |seed| half_of_one_program(&mut random, seed, 2_000, 0.5));
    // Of 6,900 checks 1,000 are wrong; of the baseline's 16,000 as many.
    let busy = half_of_one_program(&mut random, 1000, 700, 0.5);
    assert_eq!(judged(&base, busy).changes, []);
    // With many more checks of the others, the wrong ones are fewer among all, and more in their program.
    let worse = half_of_one_program(&mut random, 1001, 4_000, 0.65);
    let judged = judged(&base, worse);
    let of_all = |change: &Change| change.cell.is_of_all_programs() && change.alarm.is_worse();
    assert!(judged.changes.iter().any(of_all), "{:?}", judged.changes);
}

#[test]
fn one_false_stack_in_a_thousand_fails() {
    let mut random = Random(99);
    let mut failed = 0;
    for seed in 0..100 {
        let base = baseline(&mut random, 8);
        let mut new = honest(&mut random, 1000 + seed);
        for program in ["c", "d"] {
            new.count(
                wrong(program, "broken"),
                random.poisson(CHECKS as f64 / 1e3),
            );
        }
        failed += u32::from(fails(&judged(&base, new)));
    }
    assert!(failed >= 95, "{failed} of 100");
}

#[test]
fn what_the_power_promises_fails() {
    let mut random = Random(5);
    let mut failed = 0;
    for seed in 0..100 {
        let base = baseline(&mut random, 8);
        let mut new = honest(&mut random, 1000 + seed);
        let power = judged(&base, new.clone()).powers[0].clone();
        assert_eq!(power.missing(Detect(power.new_kind)), 0);
        assert!(power.missing(Detect(power.new_kind / 2.0)) > 0);
        let events = power.new_kind * power.checks as f64;
        new.count(wrong("a", "broken"), random.poisson(events));
        failed += u32::from(fails(&judged(&base, new)));
    }
    // 95 are expected; 87 or fewer come with probability 0.002.
    assert!(failed > 87, "{failed} of 100");
}

/// An honest run in which program `a` has errors, so many on average.
fn with_errors(random: &mut Random, seed: u64, errors: f64, refused: f64) -> Set {
    let mut run = honest(random, seed);
    for (what, mean) in [(What::Error(-5), errors), (What::Refused(-5), refused)] {
        run.count(
            Cell::new("a", Layer::AsgctAsync, what),
            random.poisson(mean),
        );
    }
    run
}

#[test]
fn refused_stacks_fail_in_a_number_in_which_other_errors_do_not() {
    let mut random = Random(13);
    let base = gathered(8, |seed| with_errors(&mut random, seed, 200.0, 2.0));
    // 0.3 % of the checks more.
    let busy = with_errors(&mut random, 1000, 260.0, 2.0);
    let strict = with_errors(&mut random, 1001, 260.0, 62.0);
    assert!(!fails(&judged(&base, busy)));
    assert!(fails(&judged(&base, strict)));
}

/// An honest run, which has so many mismatches of `cause` at a place that no other run has.
fn striking(random: &mut Random, seed: u64, cause: &str, count: u64) -> Set {
    striking_at(random, seed, cause, &[(format!("A.method{seed}"), count)])
}

/// An honest run, which has so many mismatches of `cause` at these places.
fn striking_at(random: &mut Random, seed: u64, cause: &str, places: &[(String, u64)]) -> Set {
    let mut run = honest(random, seed);
    for cause in ["many", CauseName::UNEXPLAINED] {
        run.count(wrong("a", cause), 40);
    }
    for (place, count) in places {
        let cell = Cell {
            place: Some(place.clone()),
            ..wrong("a", cause).of_all_programs()
        };
        run.count(cell, *count);
    }
    run
}

#[test]
fn a_known_mistake_may_strike_other_methods_but_an_unexplained_one_may_not() {
    let mut random = Random(23);
    let sizes = [3, 9, 3, 4, 7, 3, 5, 3];
    let base = gathered(8, |seed| {
        striking(&mut random, seed, "many", sizes[seed as usize])
    });
    let mut fails = |cause, count| fails(&judged(&base, striking(&mut random, 1000, cause, count)));
    // Four times as many as at any new place before.
    assert!(!fails("many", 35));
    assert!(fails("many", 60));
    assert!(fails(CauseName::UNEXPLAINED, 35));
}

#[test]
fn a_known_mistake_may_strike_a_method_that_it_has_met_before() {
    const MET: &str = "A.met";
    let mut random = Random(29);
    let sizes = [3, 9, 3, 4, 7, 3, 5, 3];
    let base = gathered(8, |seed| {
        let new = (format!("A.method{seed}"), sizes[seed as usize]);
        striking_at(&mut random, seed, "many", &[(MET.into(), 1), new])
    });
    let mut fails = |cause, count| {
        let new = striking_at(&mut random, 1000, cause, &[(MET.into(), count)]);
        fails(&judged(&base, new))
    };
    // As many as a new place may have, and those of the baseline.
    assert!(!fails("many", 35));
    assert!(fails("many", 60));
    assert!(fails(CauseName::UNEXPLAINED, 35));
}

#[test]
fn a_kind_that_is_gone_is_an_improvement() {
    let mut random = Random(3);
    let base = baseline(&mut random, 8);
    let mut new = honest(&mut random, 1000);
    new.counts
        .retain(|cell, _| cell.what != What::Wrong("most".into()));
    let against = judged(&base, new);
    assert!(!fails(&against), "{:?}", against.changes);
    let fell = |cell: &Cell| against.changes.iter().any(|change| change.cell == *cell);
    assert!(PROGRAMS.iter().all(|program| fell(&wrong(program, "most"))));
}

#[test]
fn a_run_of_the_baseline_is_no_change() {
    let mut random = Random(11);
    let run = honest(&mut random, 0);
    let against = judged(&whole(run.clone()), run);
    assert_eq!(against.changes, []);
}

#[test]
fn what_was_not_run_or_run_otherwise_is_an_obstacle() {
    let mut random = Random(12);
    let base = baseline(&mut random, 3);
    let mut without = honest(&mut random, 10);
    without.programs.remove("a");
    assert_eq!(judged(&base, without).obstacles.len(), 1);
    let mut otherwise = honest(&mut random, 11);
    let program = otherwise.programs.get_mut("b").expect("it was run");
    program.flags = "-Xint".into();
    assert_eq!(judged(&base, otherwise).obstacles.len(), 1);
    let mut few = honest(&mut random, 12);
    few.counts
        .insert(Cell::new("c", Layer::AsgctAsync, What::Checks), vec![3]);
    assert_eq!(judged(&base, few).obstacles.len(), 1);
}

/// A cause that came in bursts in one layer may do so in another, in which the baseline had it now and then.
#[test]
fn a_burst_of_a_cause_that_is_known_for_bursts_is_no_change() {
    let bursts = [22, 2, 16, 17, 8, 37, 99, 72];
    let now_and_then = [0, 0, 1, 1, 0, 0, 1, 0];
    let run = |seed: u64, of_edges: u64, of_signals: u64| {
        let mut set = empty(seed);
        for (layer, n) in [(Layer::CallEdge, of_edges), (Layer::AsgctAsync, of_signals)] {
            let cell = |what| Cell::new("a", layer, what);
            set.counts.insert(cell(What::Checks), vec![10_000]);
            set.counts
                .insert(cell(What::Wrong("moved-stack-pointer".into())), vec![n]);
        }
        set.add_totals();
        set
    };
    let base = |of_edges: [u64; 8]| {
        let runs = (0..8).zip(of_edges.into_iter().zip(now_and_then));
        let mut base = Set::default();
        for (seed, (edges, signals)) in runs {
            base.append(run(seed, edges, signals))
                .expect("one way to run");
        }
        base
    };
    let worse = |base: &Set| {
        let changes = judged(base, run(20, 40, 10)).changes;
        let of_signals = |change: &&Change| {
            change.alarm.is_worse()
                && change.cell.layer == Layer::AsgctAsync
                && change.cell.what.cause() == Some("moved-stack-pointer")
        };
        changes.iter().filter(of_signals).count()
    };
    assert_eq!(worse(&base(bursts)), 0);
    // Where it never came in bursts, ten are more than one.
    assert!(worse(&base([30, 34, 28, 33, 31, 29, 34, 30])) > 0);
}
