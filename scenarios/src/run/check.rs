//! Two builds in turns: the runner of a check.

use super::launch::Kit;
use super::origin::{self, Maker};
use super::session::{Event, Session};
use crate::Error;
use crate::jdk::Jdk;
use crate::plan::{Job, Plan};
use crate::process::interrupt;
use crate::scenario::{Program, Scenario, measured, turn_length};
use crate::store;
use oracle::Layer;
use oracle::gate::{self, Answer, Claim, Course, Limits, Suspicion, Turn};
use oracle::outcome::Outcome;
use oracle::random::mix;
use oracle::record::Faults;
use oracle::report::{self, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What to check.
#[derive(Debug)]
pub struct Task {
    /// The programs, which run in short turns.
    pub scenario: Scenario,
    /// The JDK that is assumed to be good.
    pub base: Jdk,
    /// The JDK that is judged.
    pub new: Jdk,
    /// The seed of all random choices.
    pub seed: u64,
    /// When the check may end.
    pub limits: Limits,
    /// The probability with which equal builds may be called different.
    pub alpha: f64,
    /// What no honest JVM can answer.
    pub claims: &'static [Claim],
    /// Faults in the answers of the new build's walkers, to try the check itself.
    pub faults: Option<Faults>,
    /// The program and the command, for the reports.
    pub maker: Maker,
}

/// The state of a check after a pair.
#[derive(Debug)]
pub struct Pair<'a> {
    /// The program of the pair.
    pub program: &'a Program,
    /// The answer so far.
    pub answer: &'a Answer,
}

/// The result of a check.
#[derive(Debug)]
pub struct Checked {
    /// The answer.
    pub answer: Answer,
    /// The turns of the base.
    pub base: Report,
    /// The turns of the new build.
    pub new: Report,
}

/// One of the two builds.
struct Side {
    jdk: Jdk,
    session: Session,
    kit: Kit,
    report: Report,
    faults: Option<Faults>,
    start: Instant,
}

/// A program of the scenario, and what chooses the fixtures of its turn.
#[derive(Clone, Copy, Debug)]
struct Choice {
    program: usize,
    seed: u64,
    /// Whether it was the program's turn, and not one in between.
    in_turn: bool,
    /// How long both builds took.
    took: Duration,
}

/// What the answer needs.
struct Need {
    /// The pairs so far that have the layer that needs most.
    with: Vec<usize>,
    /// How many thirds of the turns between those of all programs go to it.
    thirds: u64,
    /// Whether all that is needed takes all the time that is left, and no more than a check may take in the end.
    is_urgent: bool,
}

impl Need {
    /// For each layer the pairs so far that have it, and how many times as many are enough, what needs most first. So much
    /// time is `left`.
    fn new(layers: &[(&[usize], f64)], choices: &[Choice], left: Duration) -> Option<Need> {
        let &(with, most) = layers.first()?;
        // A pair may have several layers: it is repeated as often as the one that needs most asks for.
        let times = |pair: usize| {
            let of_pair = layers.iter().filter(|(with, _)| with.contains(&pair));
            of_pair.map(|&(_, times)| times).fold(1.0, f64::max)
        };
        let pairs = choices.iter().enumerate();
        let missing: f64 = pairs
            .map(|(pair, choice)| choice.took.as_secs_f64() * (times(pair) - 1.0))
            .sum();
        let left = left.as_secs_f64();
        let is_urgent = missing > 0.0 && (left..=left * Answer::LONGER).contains(&missing);
        Some(Need {
            with: with.to_vec(),
            thirds: if is_urgent || most <= CLOSE { 3 } else { 2 },
            is_urgent,
        })
    }
}

/// Whether each of so many programs had a turn.
fn covers(choices: &[Choice], programs: usize) -> bool {
    let had: BTreeSet<usize> = choices.iter().map(|choice| choice.program).collect();
    had.len() == programs
}

/// The program whose turn it is, of so many: at first one that had none, in a random order, then the one whose turns took the
/// least time. Each has the same share of the time, so a program with long turns has few: at single instructions, the same ones
/// are seen again.
fn whose_turn(choices: &[Choice], programs: usize, seed: u64) -> usize {
    let covered = covers(choices, programs);
    let had = |program: usize| {
        choices
            .iter()
            .filter(move |choice| choice.program == program)
    };
    let waiting = (0..programs).filter(|&program| covered || had(program).next().is_none());
    let first = waiting.min_by_key(|&program| {
        let own = had(program).filter(|choice| choice.in_turn);
        let took: Duration = own.map(|choice| choice.took).sum();
        (took, mix(seed ^ program as u64))
    });
    first.unwrap_or(0)
}

impl Task {
    /// Runs pairs of turns until the answer is known, the time is over, or the user interrupts. The reports of both
    /// builds are below `out`.
    pub fn run(self, out: &Path, watcher: &mut dyn FnMut(&Pair<'_>)) -> Result<Checked, Error> {
        let programs = self.programs()?;
        let mut base = Side::new(&self, &self.base, out.join("base"), None)?;
        let mut new = Side::new(&self, &self.new, out.join("new"), self.faults.clone())?;
        let start = Instant::now();
        let limit =
            Duration::try_from_secs_f64(60.0 * self.limits.minutes).unwrap_or(Duration::MAX);
        let mut course = Course::new(self.alpha);
        let mut choices: Vec<Choice> = vec![];
        let mut all_else = vec![];
        let mut wanted = vec![];
        let answer = loop {
            let at = choices.len() as u64;
            let random = |what: u64| mix(self.seed ^ mix(at << 8 | what));
            let left = limit.saturating_sub(start.elapsed());
            let layers: Vec<(&[usize], f64)> = wanted
                .iter()
                .map(|&(layer, times)| (course.pairs_with(layer), times))
                .collect();
            let need = Need::new(&layers, &choices, left);
            let mut choice = self.next(&programs, (&course, need), &choices, &random);
            let job = Job {
                number: choices.len() + 1,
                program: programs[choice.program].turn(choice.seed, turn_length(&all_else)),
                jdk: self.base.clone(),
                axes: BTreeMap::new(),
                seed: random(1) >> 32,
            };
            // A fair coin, which knows nothing of what was seen before: all promises of the answer rest on it.
            let mut sides = [&mut base, &mut new];
            if random(2) & 1 == 1 {
                sides.reverse();
            }
            for side in sides {
                let seconds = side.turn(&job)?;
                let of_fixtures = job.program.fixture_seconds();
                all_else.extend(of_fixtures.map(|of| seconds - of));
                choice.took += Duration::from_secs_f64(seconds);
            }
            choices.push(choice);
            let interrupted = interrupt::noted().is_some();
            if !interrupted {
                course.add(&base.last()?, &new.last()?);
            }
            let minutes = start.elapsed().as_secs_f64() / 60.0;
            let answer = Answer::new(&course, &base.report, &new.report, self.claims, minutes);
            watcher(&Pair {
                program: &job.program,
                answer: &answer,
            });
            wanted = answer.wanted(self.limits, &course);
            let covered = covers(&choices, programs.len());
            if interrupted
                || answer.is_sure(self.limits, &course, covered)
                || answer.is_late(self.limits, &course)
            {
                break answer.last(self.limits, &course, interrupted);
            }
        };
        let whole = answer.outcome != Outcome::NotMeasured || interrupt::noted().is_none();
        Ok(Checked {
            answer,
            base: base.finish(whole)?,
            new: new.finish(whole)?,
        })
    }

    /// The programs that both builds can run.
    fn programs(&self) -> Result<Vec<Program>, Error> {
        let features = [&self.base, &self.new].map(Jdk::feature);
        let oldest = features.into_iter().flatten().min();
        // What the older one runs, the newer one runs, too.
        let can_run =
            |program: &&Program| oldest.is_none_or(|feature| program.is_not_for(feature).is_none());
        // Each seed hooks another part of the methods: such a program is compared nowhere.
        let is_whole = |program: &&Program| program.sampling.probability == 1.0;
        let programs = self.scenario.of_check().filter(can_run).filter(is_whole);
        let programs: Vec<Program> = programs.cloned().collect();
        if programs.is_empty() {
            let name = &self.scenario.name;
            return Err(Error::Scenario(format!(
                "{name}: no program runs on both JDKs"
            )));
        }
        Ok(programs)
    }

    /// What runs next: each program in its turn, and in between what showed the strongest suspicion. Two thirds of the other
    /// turns, after each program had one, go to programs with checks of the layer that the answer needs most, and all of them where
    /// few are missing; and all turns, where these take all the time that is left.
    fn next(
        &self,
        programs: &[Program],
        (course, need): (&Course, Option<Need>),
        choices: &[Choice],
        random: &dyn Fn(u64) -> u64,
    ) -> Choice {
        let covered = covers(choices, programs.len());
        // The closer a suspicion is to an answer, the more often it is followed. A clear one is sure after some pairs, or
        // refuted by the next one, so it need not wait until each program had a turn. Among hundreds of cells, some look worse
        // in a pair or two of equal builds, too: they must not take the turns that the answer still needs.
        let quarters = |suspicion: &Suspicion| match course.missing() {
            close if close < 9.0 || suspicion.is_steady => 4,
            _ if suspicion.is_clear => 3,
            _ => 1,
        };
        let is_urgent = covered && need.as_ref().is_some_and(|need| need.is_urgent);
        // A suspicion gets more time than the check has, what the answer needs does not.
        if let Some(suspicion) = course.suspicion().filter(|_| !is_urgent)
            && (covered || suspicion.is_clear)
            && random(3) % 4 < quarters(&suspicion)
        {
            return Choice {
                in_turn: false,
                took: Duration::ZERO,
                ..choices[suspicion.pair]
            };
        }
        if let Some(Need { with, thirds, .. }) = need
            && covered
            && random(5) % 3 < thirds
            && !with.is_empty()
        {
            let pair = with[(random(6) % with.len() as u64) as usize];
            return Choice {
                program: choices[pair].program,
                seed: random(4),
                in_turn: false,
                took: Duration::ZERO,
            };
        }
        Choice {
            program: whose_turn(choices, programs.len(), self.seed),
            seed: random(4),
            in_turn: true,
            took: Duration::ZERO,
        }
    }
}

impl Side {
    fn new(task: &Task, jdk: &Jdk, out: PathBuf, faults: Option<Faults>) -> Result<Side, Error> {
        let plan = Plan {
            jobs: vec![],
            whole: 0,
            layers: measured(task.scenario.of_check()),
        };
        // Each layer needs a bound. Of steps, the same few instructions are seen again: more turns tell little more.
        let is_step = |layer: &Layer| Layer::of_steps().any(|of| of == *layer);
        let required = plan.layers.iter().filter(|layer| !is_step(layer)).copied();
        let scenario = Scenario {
            required: required.collect(),
            ..task.scenario.clone()
        };
        let session = Session::new(scenario, plan, &out)?.made_by(task.maker.clone());
        let (kit, report) = session.begin()?;
        Ok(Side {
            jdk: jdk.clone(),
            session,
            kit,
            report,
            faults,
            start: Instant::now(),
        })
    }

    /// Runs the turn of a pair, and once more if the JVM crashes or hangs. Returns how long it took, in seconds.
    fn turn(&mut self, job: &Job) -> Result<f64, Error> {
        let seconds = self.run(job)?;
        let crash = self.report.runs.last().and_then(gate::trouble);
        if crash.is_some_and(|crash| crash.outcome == Outcome::Crashed) {
            return Ok(seconds + self.run(job)?);
        }
        Ok(seconds)
    }

    fn run(&mut self, job: &Job) -> Result<f64, Error> {
        let mut job = Job {
            number: self.report.runs.len() + 1,
            jdk: self.jdk.clone(),
            ..job.clone()
        };
        job.program.sampling.faults = self.faults.clone();
        job.program.sampling.evidence_limit = job.program.sampling.evidence_limit.min(EVIDENCE);
        let quiet = &mut |_: Event<'_>| {};
        self.session
            .run_one(&self.kit, &job, &mut self.report, quiet)?;
        Ok(self.report.runs.last().map_or(0.0, |run| run.wall_s))
    }

    /// What the last turn counted.
    fn last(&self) -> Result<Turn, Error> {
        let run = &self.report.runs[self.report.runs.len() - 1];
        Turn::new(&self.report, run).map_err(Error::Scenario)
    }

    fn finish(mut self, whole: bool) -> Result<Report, Error> {
        let origins = self.report.origins.iter_mut();
        origins.for_each(|origin| origin::end(origin, self.start.elapsed()));
        self.report.layers = report::sum_layers(&self.report.runs);
        self.report.planned = self.report.runs.len();
        self.report.complete = whole;
        store::write_report(self.session.out(), &self.report)?;
        Ok(self.report)
    }
}

/// A bound that needs at most so many times as many pairs comes before the turns of other programs: an honest pair waited for
/// its last one while six of seven turns went elsewhere.
const CLOSE: f64 = 4.0;

/// A turn is one of many: a few whole stacks of each kind are enough to show it.
const EVIDENCE: u32 = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_takes_all_the_time_that_is_left_is_urgent() {
        let choice = Choice {
            program: 0,
            seed: 0,
            in_turn: true,
            took: Duration::from_secs(30),
        };
        let is_urgent = |layers: &[(&[usize], f64)], left| {
            let need = Need::new(layers, &[choice; 4], Duration::from_secs(left));
            need.is_some_and(|need| need.is_urgent)
        };
        // Two pairs took a minute, and six more take three.
        let one = |times| [(&[0, 2][..], times)];
        assert!(is_urgent(&one(4.0), 180) && is_urgent(&one(4.0), 121));
        assert!(!is_urgent(&one(4.0), 181), "there is time for others");
        assert!(!is_urgent(&one(4.0), 119), "it is too late");
        assert!(!is_urgent(&one(1.0), 0), "nothing is missing");
        // A layer in other pairs takes another minute, and one in the same pairs none.
        let others = [(&[0, 2][..], 4.0), (&[2, 3][..], 3.0)];
        assert!(is_urgent(&others, 240) && !is_urgent(&others, 241));
        let same = [(&[0, 2][..], 4.0), (&[2, 0][..], 3.0)];
        assert!(is_urgent(&same, 180) && !is_urgent(&same, 181));
        assert!(!is_urgent(&[], 0), "nothing is needed");
    }

    proptest! {
        /// However many turns a suspicion takes in between, each program has its own before any has two, and none is ahead by
        /// more than a turn.
        #[test]
        fn each_program_has_its_share_of_the_time(
            lengths in prop::collection::vec(0u64..100, 1..20), seed in any::<u64>(), between in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 1..150),
        ) {
            let programs = lengths.len();
            let mut choices: Vec<Choice> = vec![];
            for (is_between, pick) in between {
                let choice = if is_between && !choices.is_empty() {
                    Choice { in_turn: false, ..choices[pick.index(choices.len())] }
                } else {
                    let program = whose_turn(&choices, programs, seed);
                    let is_new = choices.iter().all(|choice| choice.program != program);
                    prop_assert!(is_new || covers(&choices, programs));
                    let took = Duration::from_secs(lengths[program]);
                    Choice { program, seed: 0, in_turn: true, took }
                };
                choices.push(choice);
            }
            let own = choices.iter().filter(|choice| choice.in_turn).count();
            prop_assert!(own < programs || covers(&choices, programs));
            let own = |program| choices.iter().filter(move |choice| choice.in_turn && choice.program == program);
            let shares = (0..programs).map(|program| own(program).map(|choice| choice.took).sum::<Duration>());
            let longest = Duration::from_secs(lengths.iter().copied().max().unwrap_or(0));
            let (least, most) = (shares.clone().min().unwrap(), shares.max().unwrap());
            prop_assert!(most - least <= longest, "{choices:?}");
        }
    }
}
