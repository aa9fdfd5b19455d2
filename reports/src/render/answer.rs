//! The answer as JSON, for programs: verdict, rates and causes.

use crate::model::{CauseCount, Rate, Summary};
use serde::Serialize;

#[derive(Serialize)]
struct Told<'s> {
    /// What of the VM could not be read.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    lost: &'s [String],
    /// `within`, `over`, `not-measured` or `crashed`.
    outcome: &'static str,
    headline: Option<&'s str>,
    reasons: &'s [String],
    sentence: &'s str,
    layers: Vec<Layer<'s>>,
    causes: Vec<Cause<'s>>,
}

#[derive(Serialize)]
struct Layer<'s> {
    layer: &'static str,
    #[serde(rename = "false")]
    bad: u64,
    judged: u64,
    /// From 0 to 1; absent without judged stacks.
    rate: Option<f64>,
    /// 95 % interval of the rate.
    interval: Option<(f64, f64)>,
    imprecise: u64,
    no_answer: u64,
    not_verifiable: u64,
    checks: u64,
    budget: Option<f64>,
    standing: &'s str,
}

#[derive(Serialize)]
struct Cause<'s> {
    cause: &'s str,
    hooked: u64,
    unmodified: u64,
    imprecise: bool,
}

/// Renders the answer.
pub fn answer(of: &Summary) -> String {
    let sentence = of.sentences();
    let told = Told {
        lost: &of.warnings,
        outcome: of.answer.outcome.name(),
        headline: of.answer.headline.as_deref(),
        reasons: &of.answer.reasons,
        sentence: &sentence,
        layers: of.rates.iter().map(layer).collect(),
        causes: of.causes.iter().map(cause).collect(),
    };
    let mut text = serde_json::to_string_pretty(&told).expect("plain data");
    text.push('\n');
    text
}

fn layer(of: &Rate) -> Layer<'_> {
    Layer {
        layer: of.layer.name(),
        bad: of.bad,
        judged: of.judged,
        rate: of.rate(),
        interval: of.interval,
        imprecise: of.imprecise,
        no_answer: of.unanswered,
        not_verifiable: of.unverifiable,
        checks: of.checks,
        budget: of.budget,
        standing: &of.standing,
    }
}

fn cause(of: &CauseCount) -> Cause<'_> {
    Cause {
        cause: &of.name,
        hooked: of.hooked,
        unmodified: of.plain,
        imprecise: of.is_imprecise,
    }
}
