//! The answer of a check.

use super::bound::{Class, NotWorse};
use super::course::{Course, Rise, Suspicion};
use super::percent::percent;
use crate::Layer;
use crate::gate::claims::{Broken, Claim, broken};
use crate::gate::outcome::Outcome;
use crate::gate::reason::{Objection, blindness, trouble};
use crate::gate::unexplained;
use crate::report::{Exit, LayerCounts, Report};

/// When a check may end.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Limits {
    /// The share of additional false stacks that must be excluded in each layer, from 0 to 1.
    pub detect: f64,
    /// How long the check may take, in minutes.
    pub minutes: f64,
}

/// What a check has found.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The answer in one line.
    pub headline: String,
    /// Within: not worse. Over: worse. Not measured: too noisy, or interrupted.
    pub outcome: Outcome,
    /// What no honest JVM can answer, and the new build did.
    pub broken: Vec<Broken>,
    /// Mismatches of the new build in layers in which an honest JVM has none.
    pub untrue: Vec<(Layer, u64)>,
    /// False stacks of the new build that no known defect explains, in layers in which an honest JVM has next to none.
    pub unexplained: Vec<(Layer, u64)>,
    /// What is more frequent in the new build, for sure.
    pub rises: Vec<Rise>,
    /// What clearly looks worse, but is not sure yet.
    pub suspicion: Option<Suspicion>,
    /// How much worse the new build may still be.
    pub bounds: Vec<NotWorse>,
    /// Libraries outside of the JDKs, such as the C library, of which the builds had different ones: instants in their code are not
    /// compared.
    pub different_libraries: Vec<String>,
    /// The JVM of a build that crashed or hung once, if that turn ran to its end when it was repeated.
    pub crashed_once: Vec<String>,
    /// The number of pairs.
    pub pairs: usize,
    /// How long they took, in minutes.
    pub minutes: f64,
}

/// A check is near its end if the bound that needs most would need at most so many times as many pairs.
const NEAR: f64 = 1.25;

/// So many more pairs are a few.
const FEW_PAIRS: f64 = 9.0;

/// A longer wait is not promised: the machine will have changed by then.
const MOST_MINUTES: f64 = 600.0;

impl Answer {
    /// So many times its time a check may take if it looks as if a few more pairs would decide.
    pub const LONGER: f64 = 1.5;

    /// The answer after the pairs so far. `base` and `new` are the reports of both builds.
    pub fn new(
        course: &Course,
        base: &Report,
        new: &Report,
        claims: &[Claim],
        minutes: f64,
    ) -> Answer {
        // Of a layer that could be judged in one build alone, a difference says nothing.
        let is_judged = |layer: Layer| {
            [base, new]
                .iter()
                .all(|report| report.lost_of(layer).is_none())
        };
        let mut answer = Answer {
            headline: String::new(),
            outcome: Outcome::Within,
            broken: new_only(new, base, claims),
            untrue: untrue(new, base),
            unexplained: unexplained::new_only(new, base),
            rises: course.rises(),
            suspicion: course.suspicion().filter(|it| it.is_clear),
            bounds: bounds(course, new),
            different_libraries: course.different_libraries().map(String::from).collect(),
            crashed_once: vec![],
            pairs: course.pairs(),
            minutes,
        };
        answer.broken.retain(|broken| is_judged(broken.layer));
        answer.untrue.retain(|&(layer, _)| is_judged(layer));
        answer.unexplained.retain(|&(layer, _)| is_judged(layer));
        answer.rises.retain(|rise| is_judged(rise.cell.layer));
        let of_judged = |it: &Suspicion| is_judged(it.rise.cell.layer);
        answer.suspicion = answer.suspicion.filter(of_judged);
        let troubled = |report: &Report, build: &str| {
            let troubles = Troubles::of(report);
            let text = |trouble: &Objection| format!("the {build}: {}", trouble.text);
            let alone = troubles.alone.as_ref().map(text);
            let counts = troubles.counts.map(|it| (it.outcome, text(&it)));
            (counts, alone)
        };
        let of_base = troubled(base, "base");
        let (troubled, alone) = troubled(new, "new build");
        answer.crashed_once = alone.into_iter().chain(of_base.1).collect();
        let troubled = troubled.or(of_base.0);
        let blind = |report: &Report, build: &str| {
            let lost = blindness(report).into_iter().next()?;
            Some((lost.outcome, format!("the {build}: {}", lost.text)))
        };
        let blind = blind(new, "new build").or_else(|| blind(base, "base"));
        (answer.outcome, answer.headline) = match (troubled.or(blind), answer.worse()) {
            (Some((Outcome::Crashed, why)), _) => (Outcome::Crashed, why),
            (_, Some(what)) => (Outcome::Over, format!("the new build is worse: {what}")),
            (Some((outcome, why)), None) => (outcome, why),
            (None, None) => (Outcome::Within, String::new()),
        };
        answer
    }

    /// The weightiest thing that is worse.
    fn worse(&self) -> Option<String> {
        let broken = self
            .broken
            .iter()
            .map(|broken| format!("no honest JVM gives this answer: {broken}"));
        let untrue = self.untrue.iter().map(|(layer, n)| {
            format!("{layer}: {n} stacks are false; at these places an honest JVM gives none")
        });
        let unexplained = self.unexplained.iter().map(|(layer, n)| {
            format!("{layer}: no known defect of a walker explains {n} false stacks")
        });
        let rises = self.rises.iter().map(ToString::to_string);
        broken.chain(untrue).chain(unexplained).chain(rises).next()
    }

    /// Whether the check may end: the answer is known. `covered`: each program had its turn.
    pub fn is_sure(&self, limits: Limits, course: &Course, covered: bool) -> bool {
        let known = covered && !self.is_open(course) && self.too_large(limits).is_none();
        self.outcome != Outcome::Within || known
    }

    /// Whether the time is over. It is not if a few more pairs would show that the build is worse, or is not.
    pub fn is_late(&self, limits: Limits, course: &Course) -> bool {
        if self.minutes < limits.minutes {
            return false;
        }
        let may_take_longer = self.is_open(course) || self.is_near(limits, course);
        !may_take_longer || self.minutes >= limits.minutes * Answer::LONGER
    }

    /// Whether a few more pairs would bring the last bounds below the limit. Bounds that are below it without noisy causes
    /// need none: the last answer leaves these causes out.
    fn is_near(&self, limits: Limits, course: &Course) -> bool {
        let last = self
            .large(limits)
            .filter(|bound| !is_noise(bound, limits, course));
        let times = last.map(|bound| bound.times(limits.detect));
        times
            .max_by(f64::total_cmp)
            .is_some_and(|times| times <= NEAR)
    }

    /// Whether a few more pairs may show that the new build is worse: nothing is decided before they ran.
    fn is_open(&self, course: &Course) -> bool {
        course.missing() <= FEW_PAIRS || self.suspicion.is_some()
    }

    /// The bounds on false stacks that the answer rests on.
    fn of_false(&self) -> impl Iterator<Item = &NotWorse> {
        self.bounds
            .iter()
            .filter(|bound| bound.is_required && bound.class == Class::False && bound.is_measured())
    }

    /// The layers of which more pairs are needed before the build can be called not worse, each with about how many times as
    /// many, those that need most first. More pairs of a layer whose stacks come in bursts help little: such layers are here if
    /// no other is.
    pub fn wanted(&self, limits: Limits, course: &Course) -> Vec<(Layer, f64)> {
        let large: Vec<&NotWorse> = self.large(limits).collect();
        let (noise, steady): (Vec<&NotWorse>, Vec<&NotWorse>) = large
            .into_iter()
            .partition(|bound| is_noise(bound, limits, course));
        let bounds = if steady.is_empty() { noise } else { steady };
        let mut wanted: Vec<(Layer, f64)> = bounds
            .into_iter()
            .map(|bound| (bound.layer, bound.times(limits.detect)))
            .collect();
        wanted.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        wanted
    }

    /// The layer that needs most to come below the limit.
    fn too_large(&self, limits: Limits) -> Option<&NotWorse> {
        self.large(limits)
            .max_by(|a, b| a.times(limits.detect).total_cmp(&b.times(limits.detect)))
    }

    /// The bounds that are above the limit.
    fn large(&self, limits: Limits) -> impl Iterator<Item = &NotWorse> {
        self.of_false()
            .filter(move |bound| bound.share() > limits.detect)
    }

    /// The last answer: what is not known now stays unknown. `interrupted`: the user has ended the check.
    pub fn last(mut self, limits: Limits, course: &Course, interrupted: bool) -> Answer {
        if self.outcome != Outcome::Within {
            return self;
        }
        if !interrupted {
            self.leave_out_noise(limits, course);
        }
        let Answer { pairs, minutes, .. } = self;
        if !self.bounds.iter().any(|bound| bound.is_measured()) {
            self.outcome = Outcome::NotMeasured;
            self.headline = format!("no layer was measured in {pairs} pairs");
            return self;
        }
        if let (Some(suspicion), false) = (&self.suspicion, interrupted) {
            let rise = &suspicion.rise;
            self.outcome = Outcome::NotMeasured;
            self.headline = format!(
                "too noisy: this looks worse after {pairs} pairs, but may be chance: {rise}; give it more time (--minutes {})",
                (2.0 * minutes).ceil()
            );
            return self;
        }
        let large = self.too_large(limits);
        let large = large.map(|bound| (bound.layer, bound.at_most, bound.times(limits.detect)));
        (self.outcome, self.headline) = match (large, interrupted) {
            (_, true) => (
                Outcome::NotMeasured,
                format!("interrupted after {pairs} pairs, before an answer"),
            ),
            (Some((layer, share, times)), false) => {
                let more = (minutes * (times - 1.0)).clamp(1.0, MOST_MINUTES).ceil();
                let unseen = match share {
                    Some(share) => format!(
                        "up to {} more false stacks in {layer} would not have been seen",
                        percent(share)
                    ),
                    None => format!("{layer} has too few turns for an answer"),
                };
                let headline = format!(
                    "too noisy: nothing is worse in {pairs} pairs, but {unseen}; give it {more} more minutes (--minutes {})",
                    (minutes + more).ceil()
                );
                (Outcome::NotMeasured, headline)
            }
            (None, false) => (Outcome::Within, self.not_worse()),
        };
        self
    }

    /// Where a bound is too large, causes that differ too much from turn to turn get a bound of their own.
    fn leave_out_noise(&mut self, limits: Limits, course: &Course) {
        let is_rest = |bound: &NotWorse| {
            bound.is_required && bound.class == Class::False && bound.share() > limits.detect
        };
        for bound in self.bounds.iter_mut().filter(|bound| is_rest(bound)) {
            if let Some(quiet) = course.without_noise(bound, limits.detect) {
                *bound = quiet;
            }
        }
    }

    /// The causes that the bounds leave out, in words.
    fn left_out(&self) -> String {
        let noisy = self.of_false().flat_map(|bound| {
            let left_out = bound.left_out.iter();
            left_out.map(|noisy| {
                let unseen = noisy.unseen();
                let (cause, layer) = (&noisy.cause, bound.layer);
                format!("; {cause} in {layer} differs too much from turn to turn ({unseen} more would not have been seen)")
            })
        });
        noisy.collect()
    }

    /// What is known of a build that is not worse, and of which layers the pairs tell less.
    fn not_worse(&self) -> String {
        let most = self.of_false().map(NotWorse::share).fold(0.0, f64::max);
        let of_false = |bound: &&NotWorse| bound.class == Class::False && bound.is_measured();
        let (known, others): (Vec<_>, Vec<_>) = self
            .bounds
            .iter()
            .filter(of_false)
            .partition(|bound| bound.share() <= most);
        let text = format!(
            "not worse: at most {} more false stacks of {}, with {:.0} % confidence, in {} pairs",
            percent(most),
            match known.len() {
                _ if others.is_empty() => "any layer".into(),
                1 => "1 layer".into(),
                several => format!("{several} layers"),
            },
            NotWorse::CONFIDENCE * 100.0,
            self.pairs
        );
        let once = self.crashed_once.iter();
        let once: String = once
            .map(|how| format!("; {how} (once, and not when repeated)"))
            .collect();
        let text = text + &self.left_out() + &once;
        let others: Vec<&str> = others.iter().map(|bound| bound.layer.name()).collect();
        if others.is_empty() {
            text
        } else {
            format!("{text}; too few turns to say so of {}", others.join(", "))
        }
    }
}

/// What went wrong with the runs of a build.
struct Troubles {
    /// What decides the answer.
    counts: Option<Objection>,
    /// A crash that does not.
    alone: Option<Objection>,
}

impl Troubles {
    /// A turn that crashed runs once more, so a crash is not alone if it comes again with the same seed, or anywhere else. One
    /// alone says nothing of a build: of some 1,400 turns of honest JVMs one crashed.
    fn of(report: &Report) -> Troubles {
        // That the user ended the check is no trouble of a build.
        let runs = report.runs.iter();
        let ended = runs.filter(|run| run.exit != Exit::Interrupted);
        let troubles = ended.filter_map(trouble);
        let (mut crashes, others): (Vec<_>, Vec<_>) =
            troubles.partition(|trouble| trouble.outcome == Outcome::Crashed);
        let alone = if crashes.len() == 1 {
            crashes.pop()
        } else {
            None
        };
        Troubles {
            counts: crashes.into_iter().chain(others).next(),
            alone,
        }
    }
}

/// Whether the bound is below the limit without noisy causes.
fn is_noise(bound: &NotWorse, limits: Limits, course: &Course) -> bool {
    course.without_noise(bound, limits.detect).is_some()
}

/// How much worse the new build may still be. Where a budget is 0, one false stack ends the check.
fn bounds(course: &Course, new: &Report) -> Vec<NotWorse> {
    let bounds = course.not_worse().into_iter();
    let of_class = |mut bound: NotWorse| {
        bound.is_required = new.required.contains(&bound.layer);
        let strict = bound.class == Class::False && new.budget.limit(bound.layer) == 0.0;
        if strict && bound.new.0 == 0 {
            bound.none_seen()
        } else {
            bound
        }
    };
    bounds.map(of_class).collect()
}

/// Claims that the new build contradicts, and the base does not. A base that is good contradicts none; if it does, the
/// machine or a port is one that the claim does not know, and the pairs decide.
fn new_only(new: &Report, base: &Report, claims: &[Claim]) -> Vec<Broken> {
    let of_base = broken(base, claims);
    let mut broken = broken(new, claims);
    broken.retain(|it| {
        !of_base
            .iter()
            .any(|of| (of.layer, of.never) == (it.layer, it.never))
    });
    broken
}

/// Mismatches of the new build in layers with a budget of 0, in which the base has none.
fn untrue(new: &Report, base: &Report) -> Vec<(Layer, u64)> {
    let mismatches = |report: &Report, layer: Layer| {
        let runs = report.runs.iter().flat_map(|run| &run.layers);
        let of_layer = runs.filter(|counts| counts.layer == layer);
        of_layer.map(LayerCounts::mismatches).sum::<u64>()
    };
    let strict = Layer::ALL
        .into_iter()
        .filter(|&layer| new.budget.limit(layer) == 0.0);
    let counted = strict.map(|layer| (layer, mismatches(new, layer), mismatches(base, layer)));
    counted
        .filter(|&(_, new, base)| new > 0 && base == 0)
        .map(|(layer, new, _)| (layer, new))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::course::Turn;
    use super::*;
    use crate::Verdict;
    use crate::gate::claims::{Answered, Breach};
    use crate::record::{
        CauseName, InstructionCounts, JoinCounts, KindCount, Lost, StepCounts, toy,
    };
    use crate::report::Run;
    use crate::tally::Tally;

    const LIMITS: Limits = Limits {
        detect: 0.01,
        minutes: 6.0,
    };

    const CLAIMS: [Claim; 1] = [Claim {
        never: "error -7",
        why: "there is no such state",
        breach: Breach::Error(|answered: &Answered<'_>| answered.code == -7),
    }];

    fn run(layer: Layer, matches: u64, wrong: u64, unknown_state: u64) -> Run {
        let tally = Tally {
            matches,
            wrong,
            error: [(-7, unknown_state)].into(),
            ..Tally::default()
        };
        Run {
            layers: vec![LayerCounts::new(layer, &tally)],
            ..Run::new("it", Exit::Code(0))
        }
    }

    fn answer(pairs: usize, base: Run, new: Run) -> (Course, Answer) {
        let [base, new] = [base, new].map(|run| {
            let mut report = toy::report(vec![run; pairs.max(1)]);
            report.budget.0.insert(Layer::AsgctAsync, 0.02);
            report.required = vec![Layer::AsgctAsync];
            report
        });
        let mut course = Course::new(0.01);
        for _ in 0..pairs {
            let turn = |report: &Report| Turn::new(report, &report.runs[0]).expect("one program");
            course.add(&turn(&base), &turn(&new));
        }
        let answer = Answer::new(&course, &base, &new, &CLAIMS, 3.0);
        (course, answer)
    }

    #[test]
    fn equal_builds_are_not_worse_once_enough_is_excluded() {
        let same = || run(Layer::AsgctAsync, 1000, 2, 0);
        let (course, few) = answer(3, same(), same());
        assert!(!few.is_sure(LIMITS, &course, true));
        let last = few.last(LIMITS, &course, false);
        assert_eq!(last.outcome, Outcome::NotMeasured);
        assert!(last.headline.contains("too noisy"), "{}", last.headline);
        let (course, many) = answer(40, same(), same());
        assert!(many.is_sure(LIMITS, &course, true));
        assert!(
            !many.is_sure(LIMITS, &course, false),
            "a program has had no turn"
        );
        let last = many.clone().last(LIMITS, &course, false);
        assert_eq!(last.outcome, Outcome::Within);
        assert!(
            last.headline.starts_with("not worse: at most "),
            "{}",
            last.headline
        );
        assert_eq!(
            many.last(LIMITS, &course, true).outcome,
            Outcome::NotMeasured
        );
    }

    #[test]
    fn stacks_that_no_defect_explains_are_worse_at_once_unless_the_base_has_them() {
        let run = |unexplained| {
            let layer = Layer::AsgctSafepoint;
            Run {
                kinds: vec![KindCount {
                    layer,
                    verdict: Verdict::Wrong,
                    cause: Some(CauseName::new(CauseName::UNEXPLAINED)),
                    place: "a.B.c".into(),
                    count: unexplained,
                }],
                ..run(layer, 20_000, unexplained, 0)
            }
        };
        let outcome = |base, new| {
            let reports = [base, new].map(|stacks| {
                let mut report = toy::report(vec![run(stacks)]);
                report.budget.0.insert(Layer::AsgctSafepoint, 0.005);
                report
            });
            let [base, new] = &reports;
            Answer::new(&Course::new(0.01), base, new, &CLAIMS, 1.0).outcome
        };
        assert_eq!(outcome(0, 40), Outcome::Over);
        assert_eq!(outcome(0, 15), Outcome::Within, "may be chance");
        assert_eq!(outcome(40, 40), Outcome::Within, "the base has them");
        assert_eq!(outcome(40, 0), Outcome::Within);
    }

    #[test]
    fn what_one_build_cannot_show_is_no_difference() {
        let clean = || run(Layer::AsgctAsync, 1000, 0, 0);
        let blind = || Run {
            lost: vec![Lost {
                what: vec!["debug info".into()],
                why: "field x is missing".into(),
                layers: vec![Layer::AsgctAsync],
                ..Lost::default()
            }],
            ..clean()
        };
        let false_stacks = || run(Layer::AsgctAsync, 1000, 50, 1);
        for (base, new, build) in [
            (blind(), false_stacks(), "the base: "),
            (clean(), blind(), "the new build: "),
        ] {
            let (_, answer) = answer(30, base, new);
            assert_eq!(answer.outcome, Outcome::NotMeasured, "{answer:?}");
            let headline = &answer.headline;
            assert!(headline.starts_with(build), "{headline}");
            assert!(headline.contains("field x is missing"), "{headline}");
            assert!(answer.rises.is_empty() && answer.broken.is_empty());
        }
    }

    #[test]
    fn what_is_more_frequent_in_all_pairs_is_worse() {
        let (base, new) = (
            run(Layer::AsgctAsync, 1000, 2, 0),
            run(Layer::AsgctAsync, 1000, 9, 0),
        );
        let (course, answer) = answer(30, base, new);
        assert_eq!(answer.outcome, Outcome::Over);
        assert!(answer.is_sure(LIMITS, &course, false));
        assert!(
            answer.headline.contains("asgct-async: wrong"),
            "{}",
            answer.headline
        );
    }

    /// Of 1,000 events so many are biased, and further samples are lost.
    fn of_sampler(biased: u64, lost: u64) -> Run {
        let joined = JoinCounts {
            events: 1000,
            lost,
            biased: [("match".to_owned(), biased)].into(),
            ..JoinCounts::new(Layer::JfrCpu)
        };
        Run {
            joined: vec![joined],
            ..run(Layer::JfrCpu, 1000, 0, 0)
        }
    }

    #[test]
    fn a_sampler_that_says_more_of_its_samples_is_worse() {
        let base = || of_sampler(300, 20);
        for (new, says) in [
            (
                of_sampler(1000, 20),
                "jfr-cpu: biased, as the sampler says, 100 % of the samples with a stack",
            ),
            (
                of_sampler(300, 200),
                "jfr-cpu: lost, as the sampler says, 17 % of the samples",
            ),
        ] {
            let (_, answer) = answer(30, base(), new);
            assert_eq!(answer.outcome, Outcome::Over, "{answer:?}");
            assert!(answer.headline.contains(says), "{}", answer.headline);
        }
        // By so little the machine differs between two turns.
        let (_, same) = answer(30, base(), of_sampler(310, 25));
        assert_eq!(same.outcome, Outcome::Within, "{same:?}");
    }

    /// Of 200 instructions `add rsp` so many had a false answer; a loop of one thread had a million at one of them.
    fn of_steps(mismatch: u64, loops: u64) -> Run {
        let kind = InstructionCounts {
            all: 200,
            mismatch,
            ..InstructionCounts::default()
        };
        let steps = StepCounts {
            kinds: [("add rsp".to_owned(), kind)].into(),
            ..StepCounts::default()
        };
        Run {
            steps: Some(steps),
            ..run(Layer::AsgctStep, 1_000_000, loops, 0)
        }
    }

    #[test]
    fn instructions_count_once_each() {
        let (_, same) = answer(30, of_steps(2, 10), of_steps(3, 500_000));
        assert_eq!(same.outcome, Outcome::Within, "{same:?}");
        let (_, worse) = answer(30, of_steps(2, 10), of_steps(20, 10));
        assert_eq!(worse.outcome, Outcome::Over, "{worse:?}");
        let says = "asgct-step: false at instructions: add rsp, 10 % of the instructions: add rsp, in the base 1.0 %";
        assert!(worse.headline.contains(says), "{}", worse.headline);
    }

    /// A layer that only programs of the check have gets a few turns.
    #[test]
    fn a_layer_that_is_not_required_does_not_keep_the_check() {
        let both = || Run {
            layers: vec![
                run(Layer::AsgctAsync, 1000, 2, 0).layers.remove(0),
                run(Layer::Jfr, 3, 1, 0).layers.remove(0),
            ],
            ..Run::new("it", Exit::Code(0))
        };
        let (course, answer) = answer(40, both(), both());
        let of_jfr = answer.bounds.iter().find(|bound| bound.layer == Layer::Jfr);
        assert!(of_jfr.unwrap().share() > LIMITS.detect, "{answer:?}");
        assert!(answer.is_sure(LIMITS, &course, true));
        let last = answer.last(LIMITS, &course, false);
        assert_eq!(last.outcome, Outcome::Within, "{last:?}");
        let headline = last.headline;
        assert!(
            headline.ends_with("; too few turns to say so of jfr"),
            "{headline}"
        );
        assert!(
            headline.contains(" more false stacks of 1 layer"),
            "{headline}"
        );
    }

    /// Half of JFR's stacks are false in the only turns that have it: that is no build that is not worse.
    #[test]
    fn a_clear_suspicion_keeps_the_check() {
        let (course, answer) = answer(
            40,
            run(Layer::AsgctAsync, 1000, 2, 0),
            run(Layer::AsgctAsync, 1000, 2, 0),
        );
        assert!(answer.is_sure(LIMITS, &course, true));
        let mut suspicious = course;
        let turn = |wrong| {
            let run = run(Layer::Jfr, 1000 - wrong, wrong, 0);
            Turn::new(&toy::report(vec![run.clone()]), &run).expect("one program")
        };
        suspicious.add(&turn(0), &turn(500));
        let answer = Answer {
            suspicion: suspicious.suspicion(),
            ..answer
        };
        assert!(!answer.is_sure(LIMITS, &suspicious, true));
        let late = Answer {
            minutes: LIMITS.minutes,
            ..answer
        };
        assert!(!late.is_late(LIMITS, &suspicious));
        let end = Answer {
            minutes: LIMITS.minutes * Answer::LONGER,
            ..late
        };
        assert!(end.is_late(LIMITS, &suspicious));
        let last = end.last(LIMITS, &suspicious, false);
        assert_eq!(last.outcome, Outcome::NotMeasured);
        let says = "this looks worse after 40 pairs, but may be chance: jfr: wrong";
        assert!(last.headline.contains(says), "{}", last.headline);
    }

    #[test]
    fn a_bound_that_is_nearly_reached_gets_more_time() {
        let same = || run(Layer::AsgctAsync, 1000, 2, 0);
        let (course, answer) = answer(40, same(), same());
        let at_most = answer.of_false().map(NotWorse::share).fold(0.0, f64::max);
        let after = |minutes: f64, times: f64| {
            let limits = Limits {
                detect: at_most / times,
                minutes: 1.0,
            };
            let late = Answer {
                minutes,
                ..answer.clone()
            };
            assert!(!late.is_sure(limits, &course, true), "{times}");
            late.is_late(limits, &course)
        };
        assert!(!after(1.0, 1.1));
        assert!(after(Answer::LONGER, 1.1), "not for ever");
        assert!(after(1.0, 1.5), "that would take too long");
    }

    #[test]
    fn one_false_stack_of_a_strict_layer_ends_the_check() {
        let gst = |wrong| run(Layer::Gst, 100, wrong, 0);
        let (_, worse) = answer(1, gst(0), gst(1));
        assert_eq!(
            (worse.outcome, &worse.untrue[..]),
            (Outcome::Over, &[(Layer::Gst, 1)][..])
        );
        // A base that has them too is no measure, and the pairs decide.
        let (_, both) = answer(1, gst(1), gst(1));
        assert_eq!(both.outcome, Outcome::Within);
        let (_, none) = answer(3, gst(0), gst(0));
        let bound = none.bounds.iter().find(|bound| bound.class == Class::False);
        // 1 - 0.05^(1 / 300)
        let at_most = bound
            .and_then(|bound| bound.at_most)
            .expect("there are checks");
        assert!((at_most - 0.009_936).abs() < 1e-5, "{at_most}");
    }

    #[test]
    fn an_impossible_answer_ends_the_check() {
        let of = |unknown| run(Layer::AsgctAsync, 100, 0, unknown);
        let (_, worse) = answer(1, of(0), of(1));
        assert_eq!((worse.outcome, worse.broken.len()), (Outcome::Over, 1));
        assert_eq!(answer(1, of(1), of(1)).1.outcome, Outcome::Within);
    }

    #[test]
    fn a_crash_that_comes_again_weighs_most() {
        let crash = || Run::new("it", Exit::Signal(11));
        let quiet = || run(Layer::AsgctAsync, 1000, 2, 0);
        let wrong = || run(Layer::Gst, 9, 3, 0);
        // Each pair has the same runs.
        assert_eq!(answer(2, crash(), wrong()).1.outcome, Outcome::Crashed);
        assert_eq!(answer(2, quiet(), crash()).1.outcome, Outcome::Crashed);
        assert_eq!(answer(1, quiet(), crash()).1.outcome, Outcome::Within);
        assert_eq!(answer(1, crash(), wrong()).1.outcome, Outcome::Over);

        let (course, mut many) = answer(40, quiet(), quiet());
        many.crashed_once = answer(1, quiet(), crash()).1.crashed_once;
        let last = many.last(LIMITS, &course, false);
        assert_eq!(last.outcome, Outcome::Within);
        let says = "the new build: it: the JVM was killed by signal 11";
        assert!(last.headline.contains(says), "{}", last.headline);
    }
}
