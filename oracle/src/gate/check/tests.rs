//! Simulated builds: equal ones raise no alarm, and one that is worse does.

use super::*;
use crate::Layer;
use crate::gate::baseline::{Cell, Set, What};
use crate::random::mix;
use crate::record::Statement;

/// A random number from 0 to 1.
fn uniform(seed: u64) -> f64 {
    (mix(seed) >> 11) as f64 / (1u64 << 53) as f64
}

/// A count with this mean whose variance is far above its mean: turns differ by a factor of up to five, and
/// events come in clusters of ten.
fn overdispersed(mean: f64, seed: u64) -> u64 {
    let factor = (mix(seed ^ 1) % 5) as f64 / 2.0;
    let clusters = mean * factor / 10.0;
    let whole = clusters as u64 + u64::from(uniform(seed ^ 2) < clusters.fract());
    whole * 10
}

const LAYERS: [Layer; 3] = [Layer::AsgctSafepoint, Layer::AsgctAsync, Layer::CallEdge];

/// A turn of one of eight programs. `worse`: the share of the checks in which the builds show a mistake of their own.
fn turn(program: u64, seed: u64, worse: f64) -> Turn {
    let name = format!("program-{program}");
    let mut set = Set::default();
    for (at, layer) in LAYERS.into_iter().enumerate() {
        let seed = mix(seed ^ (at as u64) << 50);
        let checks = 500 + seed % 500;
        let cell = |what| Cell::new(&name, layer, what);
        set.count(cell(What::Checks), checks);
        for cause in 0..6u64 {
            // Some causes are rare, some are in some programs only.
            let mean = if (cause + program).is_multiple_of(2) {
                8.0 / (cause + 1) as f64
            } else {
                0.0
            };
            let n = overdispersed(mean, mix(seed ^ cause << 40));
            set.count(cell(What::Wrong(format!("cause-{cause}"))), n);
            let place = Cell {
                place: Some(format!("place-{}", mix(seed ^ cause) % 40)),
                ..Cell::new(
                    Cell::ALL_PROGRAMS,
                    layer,
                    What::Wrong(format!("cause-{cause}")),
                )
            };
            set.count(place, n);
        }
        for code in [-3, -4, -5] {
            set.count(
                cell(What::Error(code)),
                overdispersed(40.0, mix(seed ^ 0x700 ^ code as u64)),
            );
        }
        if layer == Layer::AsgctAsync {
            let own = (0..checks).filter(|check| uniform(seed ^ check << 20) < worse);
            let n = own.count() as u64;
            set.count(cell(What::Wrong("unexplained".into())), n);
        }
    }
    set.add_totals();
    Turn::of(set)
}

/// The pair in which the check calls the new build worse, if it does in so many pairs.
fn alarm(course: u64, pairs: u64, alpha: f64, worse: f64) -> Option<u64> {
    let mut check = Course::new(alpha);
    let mut programs: Vec<u64> = vec![];
    (0..pairs).find(|&pair| {
        let seed = mix(course << 32 | pair);
        // As the runner does: half of the pairs follow a suspicion, and more follow a clear one.
        let program = match check.suspicion() {
            Some(it) if it.is_clear || seed & 1 == 0 => programs[it.pair],
            _ => pair % 8,
        };
        programs.push(program);
        check.add(
            &turn(program, mix(seed ^ 3), 0.0),
            &turn(program, mix(seed ^ 4), worse),
        );
        !check.rises().is_empty()
    })
}

/// Over all looks and all cells, and although the pairs follow what looks suspicious.
#[test]
fn equal_builds_raise_no_more_alarms_than_promised() {
    const COURSES: u64 = 150;
    let alarms = (0..COURSES).filter(|&course| alarm(course, 60, 0.05, 0.0).is_some());
    let share = alarms.count() as f64 / COURSES as f64;
    assert!(share <= 0.05, "{share}");
}

#[test]
fn one_false_stack_in_a_thousand_is_found() {
    const COURSES: u64 = 20;
    let found = (0..COURSES).filter_map(|course| alarm(course, 90, 0.01, 0.001));
    assert!(found.count() as f64 >= 0.9 * COURSES as f64);
}

#[test]
fn a_coarse_mistake_is_found_in_twenty_pairs() {
    for course in 0..10 {
        let found = alarm(course, 90, 0.01, 0.05);
        assert!(found.is_some_and(|pairs| pairs < 22), "{found:?}");
    }
}

/// A turn with so many false stacks among 1,000.
fn of_false(n: u64) -> Turn {
    let cell = |what| Cell::new("program", Layer::AsgctAsync, what);
    let mut set = Set::default();
    set.count(cell(What::Checks), 1000);
    set.count(cell(What::Wrong("unexplained".into())), n);
    set.add_totals();
    Turn::of(set)
}

#[test]
fn a_large_difference_is_followed_until_a_pair_refutes_it() {
    let mut check = Course::new(0.01);
    assert_eq!(check.suspicion(), None);
    check.add(&of_false(0), &of_false(2));
    let seen = |check: &Course| check.suspicion().map(|it| (it.pair, it.is_clear));
    assert_eq!(seen(&check), Some((0, false)));
    check.add(&of_false(0), &of_false(30));
    assert_eq!(seen(&check), Some((1, true)));
    let mut refuted = check.clone();
    for n in [25, 28] {
        refuted.add(&of_false(n), &of_false(1));
    }
    assert_eq!(refuted.suspicion(), None);
    // Once in a turn, and in none of either build again: other programs need turns, too.
    for _ in 0..3 {
        check.add(&of_false(0), &of_false(0));
    }
    assert_eq!(seen(&check), Some((1, false)));
}

/// A turn in which a sampler calls so many of 100 samples biased, and with so many false stacks.
fn of_biased(biased: u64, wrong: u64) -> Turn {
    let cell = |what| Cell::new("program", Layer::JfrCpu, what);
    let mut set = Set::default();
    set.count(cell(What::Checks), 1000);
    set.count(cell(What::Stacks), 100);
    set.count(cell(What::Stated(Statement::Biased)), biased);
    set.count(cell(What::Wrong("unexplained".into())), wrong);
    set.add_totals();
    Turn::of(set)
}

#[test]
fn a_frequent_answer_that_becomes_twice_as_frequent_is_followed_until_it_is_sure() {
    let mut check = Course::new(0.01);
    let seen = |check: &Course| {
        let suspicion = check.suspicion()?;
        Some((suspicion.rise.cell.what, suspicion.is_clear))
    };
    let biased = What::Stated(Statement::Biased);
    check.add(&of_biased(26, 0), &of_biased(71, 0));
    check.add(&of_false(0), &of_false(3));
    assert_eq!(seen(&check), Some((biased.clone(), false)));
    check.add(&of_biased(28, 0), &of_biased(70, 0));
    assert_eq!(seen(&check), Some((biased.clone(), true)));
    let mut refuted = check.clone();
    refuted.add(&of_biased(50, 0), &of_biased(60, 0));
    assert_ne!(seen(&refuted), Some((biased, true)));
    for _ in 0..20 {
        check.add(&of_biased(28, 0), &of_biased(70, 0));
    }
    assert!(!check.rises().is_empty());
}

#[test]
fn a_statement_that_is_no_longer_made_is_followed_until_it_is_sure() {
    let mut check = Course::new(0.01);
    for pair in 0..16 {
        let suspicion = check.suspicion().filter(|it| it.is_steady);
        let followed = suspicion.map(|it| it.rise.cell.what);
        let unsaid = What::Unsaid(Statement::Biased);
        assert_eq!(followed, (pair > 1).then_some(unsaid), "{pair}");
        check.add(&of_biased(34, 0), &of_biased(0, 0));
    }
    assert_eq!(check.rises().len(), 1, "{:?}", check.rises());
    let mut honest = Course::new(0.01);
    for _ in 0..100 {
        honest.add(&of_biased(34, 0), &of_biased(25, 0));
    }
    assert!(honest.rises().is_empty(), "{:?}", honest.rises());
}

/// In a minute for each pair there are not many.
#[test]
fn rates_that_are_far_from_each_other_need_a_dozen_pairs() {
    let mut check = Course::new(0.01);
    // Hundreds of other kinds were there first, and one of them was far apart, too.
    for program in 0..8 {
        let seed = mix(program);
        let honest = |salt| turn(program, mix(seed ^ salt), 0.0);
        check.add(&honest(3), &honest(4));
    }
    for pair in 0..12 {
        assert!(check.rises().is_empty(), "in {pair} pairs");
        let is_followed = check.suspicion().is_some_and(|it| it.is_steady);
        assert_eq!(is_followed, pair > 1, "after {pair} pairs");
        check.add(&of_biased(30, 0), &of_biased(30, 450));
    }
    assert!(!check.rises().is_empty());
}

/// A turn that stepped through so many instructions of one kind of code, and so many of them were answered falsely.
fn of_steps(wrong: u64) -> Turn {
    let kind = || "Interpreter".to_string();
    let mut set = Set::default();
    set.count(
        Cell::new("program", Layer::AsgctStep, What::Instructions(kind())),
        200,
    );
    set.count(
        Cell::new("program", Layer::AsgctStep, What::FalseAt(kind())),
        wrong,
    );
    set.add_totals();
    Turn::of(set)
}

#[test]
fn the_instructions_of_one_loop_are_no_clear_suspicion() {
    let mut check = Course::new(0.01);
    let is_clear = |check: &Course| check.suspicion().map(|it| it.is_clear);
    check.add(&of_steps(0), &of_steps(80));
    assert_eq!(is_clear(&check), Some(false));
    check.add(&of_steps(0), &of_steps(80));
    assert_eq!(is_clear(&check), Some(true));
}

#[test]
fn the_answer_names_what_is_worse() {
    let mut check = Course::new(0.01);
    for pair in 0..40 {
        let seed = mix(pair);
        check.add(
            &turn(pair % 8, mix(seed ^ 3), 0.0),
            &turn(pair % 8, mix(seed ^ 4), 0.02),
        );
    }
    let rises = check.rises();
    let first = rises.first().expect("it is worse");
    assert_eq!(first.cell.layer, Layer::AsgctAsync);
    assert_eq!(first.cell.what, What::Wrong("unexplained".into()));
    assert_eq!(first.base.0, 0.0);
    assert_eq!(check.missing(), 0.0);
    let bounds = check.not_worse();
    let bound = |layer| {
        let mine = bounds
            .iter()
            .find(|it| it.layer == layer && it.class == Class::False);
        mine.and_then(|it| it.at_most).expect("there is a bound")
    };
    assert!(bound(Layer::AsgctAsync) > 0.02);
}

#[test]
fn pairs_are_known_by_their_layers() {
    let mut check = Course::new(0.01);
    for pair in 0..6 {
        let base = turn(pair, mix(pair), 0.0);
        let mut new = turn(pair, mix(pair ^ 99), 0.0);
        if pair % 3 == 0 {
            new.without(Layer::CallEdge);
        }
        check.add(&base, &new);
    }
    assert_eq!(check.pairs_with(Layer::CallEdge), [1, 2, 4, 5]);
    assert_eq!(check.pairs_with(Layer::AsgctAsync).len(), 6);
    assert!(check.pairs_with(Layer::Gst).is_empty());
}

#[test]
fn a_layer_that_is_not_measured_any_more_is_worse() {
    let mut check = Course::new(0.01);
    for pair in 0..30 {
        let base = turn(pair % 8, mix(pair), 0.0);
        let mut new = turn(pair % 8, mix(pair ^ 99), 0.0);
        new.without(Layer::CallEdge);
        check.add(&base, &new);
    }
    let rises = check.rises();
    assert_eq!(rises.len(), 1, "{rises:?}");
    assert_eq!(
        (rises[0].cell.layer, &rises[0].cell.what),
        (Layer::CallEdge, &What::Checks)
    );
}

/// A turn of the layer `asgct-async`: so many false stacks of a known cause that comes in bursts, and so many of another.
fn of_bursts(bursts: u64, others: u64) -> Turn {
    let mut set = Set::default();
    let cell = |what| Cell::new("program", Layer::AsgctAsync, what);
    set.count(cell(What::Checks), 1000);
    set.count(cell(What::Wrong("bursts".into())), bursts);
    set.count(cell(What::Wrong("others".into())), others);
    set.add_totals();
    Turn::of(set)
}

#[test]
fn a_cause_that_comes_in_bursts_gets_a_bound_of_its_own() {
    const LIMIT: f64 = 0.005;
    let mut course = Course::new(0.01);
    for pair in 0..60 {
        let bursts = |side: u64| mix(pair << 8 | side) % 5 * 60;
        course.add(&of_bursts(bursts(1), 1), &of_bursts(bursts(2), 1));
    }
    let bounds = course.not_worse();
    let is_false = |bound: &&NotWorse| bound.class == Class::False;
    let bound = bounds.iter().find(is_false).expect("there are checks");
    assert!(bound.share() > LIMIT, "{bound:?}");
    let quiet = course.without_noise(bound, LIMIT).expect("others are rare");
    assert!(quiet.share() <= LIMIT, "{quiet:?}");
    let causes: Vec<_> = quiet.left_out.iter().map(|noisy| &*noisy.cause).collect();
    assert_eq!(causes, ["bursts"]);
    assert!(quiet.left_out[0].at_most.is_none_or(|share| share > LIMIT));
    // A bound that needs more than the noise taken away stays as it is.
    assert_eq!(course.without_noise(bound, 1e-9), None);
}
