//! The decision on a report: computed once, shown by every renderer, told by the exit code.

use super::against::{Against, Detect, Judging, against};
use super::baseline::Baseline;
use super::claims::{Broken, Claim, broken};
use super::known::{Known, KnownIssues, KnownSeen};
use super::layers::{Basis, Compared, LayerDecision, Limits, Standing};
use super::outcome::Outcome;
use super::reason::{Objection, Subject, blindness, incomplete, trouble, weigh};
use super::statements::{StatementDecision, statements};
use super::unexplained;
use crate::Layer;
use crate::report::Report;

/// What a report is judged by.
#[derive(Copy, Clone, Debug)]
pub enum Rule<'a> {
    /// Each layer's observed rate against its budget. No mismatch is known.
    ObservedRates,
    /// Each layer's upper bound against its budget, without the mismatches of known issues.
    UpperBounds {
        /// The known issues.
        known: &'a KnownIssues,
        /// The processor architecture, as in `std::env::consts::ARCH`.
        platform: &'a str,
    },
    /// Every cell against the runs of a baseline.
    Baseline {
        /// The baseline.
        baseline: &'a Baseline,
        /// The known issues.
        known: &'a KnownIssues,
        /// The processor architecture, as in `std::env::consts::ARCH`.
        platform: &'a str,
        /// How sure the answer has to be.
        judging: Judging,
        /// What must be seen, if anything.
        detect: Option<Detect>,
    },
}

/// The decision on a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What the layers' budgets were compared with.
    pub basis: Basis,
    /// The answer.
    pub outcome: Outcome,
    /// What speaks against a better answer, the weightiest reason first. The list is empty
    /// exactly if the outcome is [`Outcome::Within`].
    pub reasons: Vec<Objection>,
    /// The layers, lowest first.
    pub layers: Vec<LayerDecision>,
    /// What samplers of the JVM say of their own samples, where the scenario limits it.
    pub statements: Vec<StatementDecision>,
    /// The known issues that the report could show.
    pub known: Vec<KnownSeen>,
    /// For each of [`Report::mismatches`], whether a known issue explains it.
    pub is_known: Vec<bool>,
    /// What changed since the baseline, where there is one.
    pub against: Option<Against>,
    /// Claims about all honest JVMs that the report contradicts.
    pub broken: Vec<Broken>,
}

impl Decision {
    /// The decision on one layer; `None` if the layer was neither measured nor asked for.
    pub fn layer(&self, layer: Layer) -> Option<&LayerDecision> {
        self.layers.iter().find(|decision| decision.layer == layer)
    }

    /// The reasons about one subject.
    pub fn about<'a>(&'a self, subject: &'a Subject) -> impl Iterator<Item = &'a Objection> {
        self.reasons
            .iter()
            .filter(move |reason| reason.subject == *subject)
    }
}

/// Judges a report. `claims`: what no honest JVM can answer.
pub fn decide(report: &Report, rule: Rule<'_>, claims: &[Claim]) -> Decision {
    let nothing = KnownIssues::default();
    let (basis, issues, platform) = match rule {
        Rule::ObservedRates => (Basis::ObservedRates, &nothing, ""),
        Rule::UpperBounds { known, platform } => (Basis::UpperBounds, known, platform),
        Rule::Baseline {
            known, platform, ..
        } => (Basis::Baseline, known, platform),
    };
    let (against, detect) = match rule {
        Rule::Baseline {
            baseline,
            judging,
            detect,
            ..
        } => (
            Some(against(report, baseline, platform, issues, judging)),
            detect,
        ),
        _ => (None, None),
    };
    let known = Known { issues, platform };
    let compared = |layer| compared(against.as_ref(), detect, layer);
    let layers = layers(report, known, basis, compared);
    // The comparison with a baseline says itself what could not be read.
    let mut reasons: Vec<Objection> = if against.is_some() {
        vec![]
    } else {
        blindness(report)
    };
    reasons.extend(report.runs.iter().filter_map(trouble));
    let broken = broken(report, claims);
    reasons.extend(broken.iter().map(|broken| {
        let text = format!("no honest JVM gives this answer: {broken}");
        Objection::new(Outcome::Over, Subject::Layer(broken.layer), text)
    }));
    // A layer may lack data for a reason that a run or the comparison gives.
    let objections: Vec<Objection> = against.iter().flat_map(Against::objections).collect();
    let explained = reasons.len() > broken.len() || !objections.is_empty();
    reasons.extend(objections);
    // A run that failed says better than its layers why they have no data.
    let of_layers = layers
        .iter()
        .filter_map(|layer| layer.objection(why_none_is_joined(report, layer.layer)));
    reasons.extend(of_layers.filter(|reason| !explained || reason.outcome == Outcome::Over));
    let statements = statements(report, basis);
    let of_samplers = statements.iter().filter_map(StatementDecision::objection);
    reasons.extend(of_samplers.filter(|reason| !explained || reason.outcome == Outcome::Over));
    if !explained && !layers.iter().any(|layer| layer.decided > 0) {
        let text = "no layer has any data";
        reasons.push(Objection::new(Outcome::NotMeasured, Subject::Report, text));
    }
    reasons.extend(incomplete(report));
    let seen = known.seen(report);
    reasons.extend(seen.iter().filter_map(KnownSeen::objection));
    let outcome = weigh(report, &mut reasons);
    Decision {
        basis,
        outcome,
        reasons,
        layers,
        statements,
        known: seen,
        is_known: report
            .mismatches
            .iter()
            .map(|mismatch| known.explains_one(report, mismatch))
            .collect(),
        against,
        broken,
    }
}

/// Why no event of the layer's sampler was joined in a run, if that is known.
fn why_none_is_joined(report: &Report, layer: Layer) -> Option<&str> {
    let joined = report.runs.iter().flat_map(|run| &run.joined);
    let mut of_layer = joined.filter(|joined| joined.layer == layer);
    of_layer.find_map(|joined| joined.why_none.as_deref())
}

/// What a comparison with a baseline says of a layer.
fn compared(against: Option<&Against>, detect: Option<Detect>, layer: Layer) -> Compared {
    let Some(against) = against else {
        return Compared::default();
    };
    let worse = against
        .changes
        .iter()
        .filter(|change| change.alarm.is_worse());
    let powers = against.powers.iter().filter(|power| power.layer == layer);
    let missing = detect.and_then(|detect| {
        let missing = powers.map(|power| (power.missing(detect), power));
        let (more, power) = missing.max_by_key(|(more, _)| *more)?;
        (more > 0).then(|| (more, power.minutes(more).ceil() as u64))
    });
    Compared {
        worse: worse.filter(|change| change.cell.layer == layer).count(),
        missing,
    }
}

/// Decides on each layer that is in the report or was asked for.
fn layers(
    report: &Report,
    known: Known<'_>,
    basis: Basis,
    compared: impl Fn(Layer) -> Compared,
) -> Vec<LayerDecision> {
    let mut decisions = vec![];
    for layer in Layer::ALL {
        let counts = report.layer(layer);
        let required = report.required.contains(&layer);
        if counts.is_none() && !required {
            continue;
        }
        let limits = Limits {
            budget: report.budget.limit(layer),
            imprecise: report.imprecise_budget.limit(layer),
            unexplained: unexplained::limit(report, layer),
        };
        let mut decision = LayerDecision::new(
            layer,
            counts,
            known.of_layer(report, layer),
            limits,
            required,
            basis,
            compared(layer),
        );
        if report.lost_of(layer).is_some() {
            decision.standing = Standing::Blind;
        }
        decisions.push(decision);
    }
    decisions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Lost, toy};
    use crate::report::{Exit, LayerCounts, Run};
    use crate::tally::Tally;

    fn run(exit: Exit, wrong: u64, invalid: Option<&str>) -> Run {
        let tally = Tally {
            matches: 10,
            wrong,
            ..Tally::default()
        };
        Run {
            seed: 1,
            wall_s: 1.0,
            layers: vec![LayerCounts::new(Layer::Gst, &tally)],
            invalid: invalid.map(Into::into),
            dir: "runs/01-it".into(),
            ..Run::new("it", exit)
        }
    }

    fn outcome(runs: Vec<Run>, required: &[Layer]) -> Outcome {
        let report = Report {
            required: required.into(),
            ..toy::report(runs)
        };
        decide(&report, Rule::ObservedRates, &[]).outcome
    }

    #[test]
    fn the_weightiest_reason_decides() {
        let clean = || run(Exit::Code(0), 0, None);
        let wrong = || run(Exit::Code(0), 1, None);
        let crash = || run(Exit::Signal(11), 0, None);
        let worthless = || run(Exit::Code(0), 0, Some("it panicked"));
        assert_eq!(outcome(vec![clean()], &[Layer::Gst]), Outcome::Within);
        assert_eq!(
            outcome(vec![clean()], &[Layer::Ground]),
            Outcome::NotMeasured
        );
        assert_eq!(outcome(vec![], &[]), Outcome::NotMeasured);
        assert_eq!(outcome(vec![clean(), wrong()], &[]), Outcome::Over);
        assert_eq!(outcome(vec![wrong()], &[Layer::Ground]), Outcome::Over);
        assert_eq!(
            outcome(vec![wrong(), worthless()], &[]),
            Outcome::NotMeasured
        );
        let interrupted = run(Exit::Interrupted, 0, None);
        assert_eq!(
            outcome(vec![wrong(), interrupted], &[]),
            Outcome::NotMeasured
        );
        assert_eq!(outcome(vec![wrong(), crash()], &[]), Outcome::Crashed);
        assert_eq!(
            outcome(vec![run(Exit::Deadline, 0, None)], &[]),
            Outcome::Crashed
        );
        // What could not be read weighs as much as missing data, and nothing is said of layers that need it.
        let blind = |layer| Run {
            lost: vec![Lost {
                layers: vec![layer],
                ..Lost::default()
            }],
            ..wrong()
        };
        assert_eq!(
            outcome(vec![clean(), blind(Layer::Gst)], &[]),
            Outcome::NotMeasured
        );
        assert_eq!(outcome(vec![blind(Layer::AsgctAsync)], &[]), Outcome::Over);
        // A program's own exit code is no matter of ours.
        assert_eq!(
            outcome(vec![run(Exit::Code(7), 0, None)], &[]),
            Outcome::Within
        );
    }
}
