//! What speaks against a report, and how much each reason weighs.

use super::merge::missing_runs;
use super::outcome::Outcome;
use crate::Layer;
use crate::report::{Exit, Report, Run};

/// What a [`Objection`] is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Subject {
    /// The report as a whole.
    Report,
    /// One run, by its folder ([`Run::dir`]).
    Run(String),
    /// One layer, summed over all runs.
    Layer(Layer),
    /// One known issue, by its name.
    KnownIssue(String),
}

/// One thing that speaks against a report.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Objection {
    /// What the report would come to if this were the only reason; never [`Outcome::Within`].
    pub outcome: Outcome,
    /// What the reason is about.
    pub subject: Subject,
    /// The reason in words.
    pub text: String,
}

impl Objection {
    pub(super) fn new(outcome: Outcome, subject: Subject, text: impl Into<String>) -> Objection {
        Objection {
            outcome,
            subject,
            text: text.into(),
        }
    }
}

/// What went wrong with a run as a whole: a crash, a hang, a failure.
pub fn trouble(run: &Run) -> Option<Objection> {
    let name = run.title();
    let reason = |outcome, text| Objection::new(outcome, Subject::Run(run.dir.clone()), text);
    let crashed = |how: String| {
        let text = format!("{name}: {how}; see {}", run.dir);
        Some(reason(Outcome::Crashed, text))
    };
    match &run.exit {
        Exit::Deadline => return crashed("the JVM did not end in time".into()),
        Exit::Signal(signal) => return crashed(format!("the JVM was killed by signal {signal}")),
        Exit::Interrupted => {
            let text = format!("{name}: it was interrupted");
            return Some(reason(Outcome::NotMeasured, text));
        }
        Exit::Code(_) | Exit::NotStarted(_) => {}
    }
    let why = run.invalid.as_ref().or(run.failed.as_ref())?;
    Some(reason(Outcome::NotMeasured, format!("{name}: {why}")))
}

/// What could not be read of the VM, if a layer of the report needs it.
pub(in crate::gate) fn blindness(report: &Report) -> Vec<Objection> {
    let is_asked_for = |layer: &Layer| report.layer(*layer).is_some();
    let lost = report.lost().into_iter();
    lost.filter(|lost| lost.layers.iter().any(is_asked_for))
        .map(|lost| Objection::new(Outcome::NotMeasured, Subject::Report, lost.to_string()))
        .collect()
}

/// More runs are not named.
const NAMED: usize = 10;

/// That not all runs were done, and which were not.
pub(super) fn incomplete(report: &Report) -> Option<Objection> {
    if report.complete {
        return None;
    }
    let missing = missing_runs(report);
    let named = missing.iter().take(NAMED).map(ToString::to_string);
    let more = if missing.len() > NAMED { ", …" } else { "" };
    let which = match missing.len() {
        0 => String::new(),
        n => {
            let named = named.collect::<Vec<_>>().join(", ");
            format!(
                ": {n} of {} are missing, number {named}{more}",
                report.planned
            )
        }
    };
    let text = format!("not all runs were done{which}");
    Some(Objection::new(Outcome::NotMeasured, Subject::Report, text))
}

/// Weighs all reasons: a crash weighs most, then a run that is worthless or was interrupted, then a
/// layer over its budget, then missing data. Sorts the reasons by that weight.
pub(super) fn weigh(report: &Report, reasons: &mut [Objection]) -> Outcome {
    // Stable, so that reasons of one kind keep the order of the runs and layers.
    reasons.sort_by_key(|reason| match reason.outcome {
        Outcome::Crashed => 0,
        Outcome::Over => 1,
        Outcome::NotMeasured | Outcome::Within => 2,
    });
    let worthless = report.runs.iter().any(is_worthless);
    match reasons.first().map(|reason| reason.outcome) {
        None => Outcome::Within,
        Some(Outcome::Over) if worthless => Outcome::NotMeasured,
        Some(outcome) => outcome,
    }
}

/// Whether a run's rates say nothing: the agent gave up, or the program was ended halfway.
fn is_worthless(run: &Run) -> bool {
    run.invalid.is_some() || run.exit == Exit::Interrupted
}
