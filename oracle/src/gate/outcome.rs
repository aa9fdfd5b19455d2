//! What a whole report comes to: the one answer that a command's exit code gives.

use crate::Layer;
use crate::budget::Standing;
use crate::report::{Exit, Report, Run};
use std::fmt;

/// The answer.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// Every layer is within its budget.
    Within,
    /// At least one layer is over its budget.
    Over,
    /// There is no answer.
    NotMeasured,
    /// A JVM crashed, or had to be ended.
    Crashed,
}

impl Outcome {
    /// The exit code that tells it.
    pub fn exit_code(self) -> u8 {
        match self {
            Outcome::Within => 0,
            Outcome::Over => 1,
            Outcome::NotMeasured => 3,
            Outcome::Crashed => 4,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Within => "within budget",
            Outcome::Over => "over budget",
            Outcome::NotMeasured => "could not measure",
            Outcome::Crashed => "the JVM crashed or hung",
        })
    }
}

/// An outcome and every reason for it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The answer.
    pub outcome: Outcome,
    /// What speaks against a better one, a sentence each.
    pub reasons: Vec<String>,
}

impl Report {
    /// Judges the observed rates. A crash weighs most, then a run that is worthless or was
    /// interrupted, then a layer over its budget, then a required layer without data.
    pub fn finding(&self) -> Finding {
        let mut reasons = vec![];
        for counts in &self.layers {
            let layer = counts.layer;
            let standing = self.budget.standing(layer, &counts.tally());
            if let (Standing::Over, Some(rate)) = (standing, counts.mismatch_rate) {
                let limit = self.budget.limit(layer);
                let reason =
                    format!("{layer}: a mismatch rate of {rate:.2e} is over its budget of {limit}");
                reasons.push((Outcome::Over, reason));
            }
        }
        let required = self.required.iter().filter(|&&layer| !self.has_data(layer));
        let without: Vec<&str> = required.map(|layer| layer.name()).collect();
        // Runs that failed say better why there is nothing.
        if !self.runs.iter().any(|run| trouble(run).is_some()) {
            if !without.is_empty() {
                reasons.push((
                    Outcome::NotMeasured,
                    format!("no data in {}", without.join(", ")),
                ));
            } else if !Layer::ALL.into_iter().any(|layer| self.has_data(layer)) {
                reasons.push((Outcome::NotMeasured, "no layer has any data".into()));
            }
        }
        self.with_trouble(reasons)
    }

    /// Adds what went wrong with whole runs to what speaks against layers, and weighs all.
    pub(crate) fn with_trouble(&self, of_layers: Vec<(Outcome, String)>) -> Finding {
        let mut reasons: Vec<_> = self
            .runs
            .iter()
            .filter_map(trouble)
            .chain(of_layers)
            .collect();
        if !self.complete {
            reasons.push((Outcome::NotMeasured, "not all runs were done".into()));
        }
        // Stable, so that reasons of one kind keep the order of the runs.
        reasons.sort_by_key(|(outcome, _)| match outcome {
            Outcome::Crashed => 0,
            Outcome::Over => 1,
            _ => 2,
        });
        let worthless = self.runs.iter().any(Run::is_worthless);
        let outcome = match reasons.first() {
            None => Outcome::Within,
            Some((Outcome::Over, _)) if worthless => Outcome::NotMeasured,
            Some(&(outcome, _)) => outcome,
        };
        Finding {
            outcome,
            reasons: reasons.into_iter().map(|(_, reason)| reason).collect(),
        }
    }

    /// Whether anything was decided in `layer`.
    pub fn has_data(&self, layer: Layer) -> bool {
        self.layers
            .iter()
            .any(|counts| counts.layer == layer && counts.tally().decided() > 0)
    }
}

impl Run {
    /// Whether its rates say nothing: the agent gave up, or the program was ended halfway.
    fn is_worthless(&self) -> bool {
        self.invalid.is_some() || self.exit == Exit::Interrupted
    }

    /// Whether something went wrong with it as a whole: a crash, a hang, a failure.
    pub fn is_trouble(&self) -> bool {
        trouble(self).is_some()
    }
}

/// What went wrong with a run as a whole.
fn trouble(run: &Run) -> Option<(Outcome, String)> {
    let name = run.title();
    let crashed = |how: String| Some((Outcome::Crashed, format!("{name}: {how}; see {}", run.dir)));
    match &run.exit {
        Exit::Deadline => return crashed("the JVM did not end in time".into()),
        Exit::Signal(signal) => return crashed(format!("the JVM was killed by signal {signal}")),
        _ => {}
    }
    let interrupted = (run.exit == Exit::Interrupted).then_some("it was interrupted");
    let why = interrupted
        .or(run.invalid.as_deref())
        .or(run.failed.as_deref())?;
    Some((Outcome::NotMeasured, format!("{name}: {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{LayerCounts, SCHEMA, sum_layers};
    use crate::tally::Tally;

    fn run(exit: Exit, wrong: u64, invalid: Option<&str>) -> Run {
        let tally = Tally {
            matches: 10,
            wrong,
            ..Tally::default()
        };
        Run {
            scenario: "it".into(),
            java_args: vec![],
            seed: 1,
            exit,
            wall_s: 1.0,
            cost: None,
            layers: vec![LayerCounts::new(Layer::Gst, &tally)],
            rewriting: Default::default(),
            invalid: invalid.map(Into::into),
            failed: None,
            dir: "runs/01-it".into(),
            jdk: None,
            axes: Default::default(),
            notes: vec![],
            errors: vec![],
            profile: Default::default(),
            edges: Default::default(),
        }
    }

    fn outcome(runs: Vec<Run>, required: &[Layer]) -> Outcome {
        let report = Report {
            schema: SCHEMA,
            jdk: Default::default(),
            complete: true,
            layers: sum_layers(&runs),
            runs,
            mismatches: vec![],
            budget: Default::default(),
            required: required.into(),
            planned: 0,
            skipped: vec![],
        };
        report.finding().outcome
    }

    #[test]
    fn the_worst_decides() {
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
        // A program's own exit code is no matter of ours.
        assert_eq!(
            outcome(vec![run(Exit::Code(7), 0, None)], &[]),
            Outcome::Within
        );
    }
}
