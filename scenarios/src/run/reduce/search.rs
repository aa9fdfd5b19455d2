//! The search for the smallest program that still shows a mistake. It runs nothing itself.

use super::smaller::{STEPS, lasting, seconds};
use crate::Error;
use crate::scenario::Program;
use oracle::Layer;

/// How long programs run, in seconds, while no program has shown the mistake: longer in each round.
const ROUNDS: [f64; 4] = [4.0, 8.0, 16.0, 30.0];

/// The longest time of a program in an issue, in seconds.
const LONGEST: f64 = 30.0;

/// So often a smaller program is tried before it counts as too small: the instants that a run meets are random, also
/// with the same seed.
const TRIES: u64 = 2;

/// So often the smallest program must show the mistake, one time after another.
pub(super) const CONFIRMATIONS: usize = 3;

/// A smaller program that shows the mistake so often is taken, however often the larger one showed it.
const OFTEN: u64 = 10;

/// A smaller program that shows the mistake less often is taken if it is at most so many times rarer: one that is far
/// rarer shows it by luck, and not in the next run.
const RARER: f64 = 4.0;

/// How often a program showed the mistake; `None`: it was not run, because the time is over, or the user has interrupted.
pub(super) type Shown = Option<u64>;

/// The smallest program that was found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Smallest {
    pub program: Program,
    pub seed: u64,
    /// How often the program showed the mistake when it was taken.
    pub count: u64,
    /// Whether it was shown in each of [`CONFIRMATIONS`] runs, one after another.
    pub is_confirmed: bool,
}

impl Smallest {
    /// Whether a smaller program shows the mistake well enough to take this program's place.
    fn is_matched_by(&self, smaller: &Program, count: u64) -> bool {
        let time = |program| seconds(program).unwrap_or(1.0);
        let rate = |program, count| count as f64 / time(program);
        let is_rare = rate(smaller, count) * RARER < rate(&self.program, self.count);
        count >= OFTEN || count > 0 && !is_rare
    }
}

/// Searches in `programs`, which are sorted: the smallest first. `show` runs a program with a seed.
pub(super) fn smallest(
    programs: &[Program],
    layers: &[Layer],
    seed: u64,
    show: &mut dyn FnMut(&Program, u64) -> Result<Shown, Error>,
) -> Result<Option<Smallest>, Error> {
    let Some(mut best) = first(programs, seed, show)? else {
        return Ok(None);
    };
    shrink(&mut best, layers, show)?;
    confirm(&mut best, show)?;
    Ok(Some(best))
}

/// The first program that shows the mistake.
fn first(
    programs: &[Program],
    seed: u64,
    show: &mut dyn FnMut(&Program, u64) -> Result<Shown, Error>,
) -> Result<Option<Smallest>, Error> {
    for (round, &time) in (0..).zip(&ROUNDS) {
        for program in programs {
            // The time of a program with many fixtures is shared among them.
            let time = seconds(program).map_or(time, |own| own.max(time).min(LONGEST));
            let (program, seed) = (lasting(program, time), seed.wrapping_add(round));
            match show(&program, seed)? {
                None => return Ok(None),
                Some(0) => {}
                Some(count) => {
                    return Ok(Some(Smallest {
                        program,
                        seed,
                        count,
                        is_confirmed: false,
                    }));
                }
            }
        }
    }
    Ok(None)
}

/// Takes one step after another as long as the mistake still shows.
fn shrink(
    best: &mut Smallest,
    layers: &[Layer],
    show: &mut dyn FnMut(&Program, u64) -> Result<Shown, Error>,
) -> Result<(), Error> {
    for step in STEPS {
        let mut is_smaller = true;
        while is_smaller {
            is_smaller = false;
            for program in step(&best.program, layers) {
                let Some(taken) = try_smaller(best, program, show)? else {
                    return Ok(());
                };
                if taken {
                    is_smaller = true;
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Takes a smaller program if it shows the mistake well enough. Returns whether; `None` if it was not run.
fn try_smaller(
    best: &mut Smallest,
    program: Program,
    show: &mut dyn FnMut(&Program, u64) -> Result<Shown, Error>,
) -> Result<Option<bool>, Error> {
    for attempt in 0..TRIES {
        let seed = best.seed.wrapping_add(attempt);
        let Some(count) = show(&program, seed)? else {
            return Ok(None);
        };
        if best.is_matched_by(&program, count) {
            (best.program, best.seed, best.count) = (program, seed, count);
            return Ok(Some(true));
        }
    }
    Ok(Some(false))
}

/// Runs the smallest program several times with the same seed, and longer where that is too short.
fn confirm(
    best: &mut Smallest,
    show: &mut dyn FnMut(&Program, u64) -> Result<Shown, Error>,
) -> Result<(), Error> {
    loop {
        let mut shown = 0;
        while shown < CONFIRMATIONS {
            match show(&best.program, best.seed)? {
                None => return Ok(()),
                Some(0) => break,
                Some(_) => shown += 1,
            }
        }
        if shown == CONFIRMATIONS {
            best.is_confirmed = true;
            return Ok(());
        }
        match seconds(&best.program) {
            Some(time) if time < LONGEST => {
                best.program = lasting(&best.program, (time * 2.0).min(LONGEST));
            }
            _ => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::smaller::without_hooks;
    use super::*;
    use crate::scenario::Start;
    use oracle::Hooking;

    fn program(names: &[&str], flags: &[&str], time: f64) -> Program {
        let start = Start::Fixtures {
            names: names.iter().map(|&name| name.into()).collect(),
            seconds: time,
        };
        Program {
            jvm_args: flags.iter().map(|&flag| flag.into()).collect(),
            ..Program::new("p", start)
        }
    }

    fn parts(program: &Program) -> (Vec<String>, Vec<String>, f64) {
        let Start::Fixtures { names, seconds } = &program.start else {
            panic!("{program:?}")
        };
        (names.clone(), program.jvm_args.clone(), *seconds)
    }

    /// A JVM that has the mistake where `rule` says so. Returns what was found, and the number of runs.
    fn found(
        programs: &[Program],
        most: usize,
        rule: impl Fn(&Program) -> bool,
    ) -> (Option<Smallest>, usize) {
        let mut runs = 0;
        let mut show = |program: &Program, _: u64| {
            if runs == most {
                return Ok(None);
            }
            runs += 1;
            Ok(Some(u64::from(rule(program))))
        };
        let layers = [Layer::AsgctAsync];
        let found = smallest(programs, &layers, 1, &mut show).expect("no error");
        (found, runs)
    }

    #[test]
    fn only_what_the_mistake_needs_is_left() {
        let whole = program(
            &["a", "b", "c", "d", "e"],
            &["-Xint", "-XX:+X", "-Xmx1g"],
            20.0,
        );
        let (found, _) = found(&[whole], 1000, |program| {
            let (names, flags, time) = parts(program);
            names.contains(&"d".into()) && flags.contains(&"-XX:+X".into()) && time >= 2.0
        });
        let found = found.expect("it shows");
        assert!(found.is_confirmed);
        let (names, flags, time) = parts(&found.program);
        assert_eq!((names, flags), (vec!["d".into()], vec!["-XX:+X".into()]));
        assert!((2.0..4.0).contains(&time), "{time}");
        assert_eq!(found.program.hooks, Hooking::Exact, "the layer needs hooks");
    }

    #[test]
    fn the_smallest_program_is_tried_first() {
        let programs = ["a", "b", "c"].map(|name| program(&[name], &[], 4.0));
        let (found, runs) = found(&programs, 1000, |program| parts(program).0 == ["b"]);
        assert_eq!(parts(&found.expect("it shows").program).0, ["b"]);
        assert!(runs < 12, "{runs}");
    }

    #[test]
    fn a_mistake_that_does_not_show_again_is_not_found_and_the_search_ends() {
        let programs = ["a", "b"].map(|name| program(&[name], &[], 4.0));
        assert_eq!(found(&programs, 1000, |_| false), (None, 8));
        assert_eq!(found(&programs, 3, |_| false), (None, 3));
    }

    #[test]
    fn where_the_time_ends_the_best_so_far_is_not_confirmed() {
        let whole = program(&["a", "b"], &["-Xint"], 8.0);
        let (found, runs) = found(&[whole], 2, |program| {
            parts(program).0.contains(&"a".into())
        });
        let found = found.expect("it shows");
        assert_eq!((parts(&found.program).0, runs), (vec!["a".into()], 2));
        assert!(!found.is_confirmed);
    }

    #[test]
    fn a_program_that_does_not_always_show_it_runs_longer() {
        let mut at = 0;
        let mut show = |program: &Program, _: u64| {
            at += 1;
            let (_, _, time) = parts(program);
            // Short programs show it every other time.
            let shows = time >= 8.0 || at % 2 == 1;
            Ok(Some(u64::from(shows)))
        };
        let programs = [program(&["a"], &[], 4.0)];
        let layers = [Layer::AsgctAsync];
        let found = smallest(&programs, &layers, 1, &mut show).expect("no error");
        let found = found.expect("it shows");
        assert!(found.is_confirmed);
        assert!(parts(&found.program).2 >= 8.0);
    }

    #[test]
    fn a_flag_stays_without_which_the_mistake_is_far_rarer() {
        let programs = [program(&["a"], &["-XX:+X"], 4.0)];
        let mut show = |program: &Program, _: u64| {
            let (_, flags, time) = parts(program);
            let per_second = if flags.is_empty() { 0.25 } else { 10.0 };
            Ok(Some((time * per_second) as u64))
        };
        let layers = [Layer::AsgctAsync];
        let found = smallest(&programs, &layers, 1, &mut show).expect("no error");
        let found = found.expect("it shows");
        let (_, flags, time) = parts(&found.program);
        assert_eq!((flags, time), (vec!["-XX:+X".into()], 1.0));
        assert!(found.is_confirmed);
    }

    #[test]
    fn hooks_go_where_the_layer_does_not_need_them() {
        let hooked = program(&["a"], &[], 4.0);
        let steps = without_hooks(&hooked, &[Layer::AsgctGst]);
        assert!(steps.iter().any(|program| program.hooks == Hooking::None));
        let steps = without_hooks(&hooked, &[Layer::AsgctAsync]);
        assert!(steps.is_empty());
    }
}
