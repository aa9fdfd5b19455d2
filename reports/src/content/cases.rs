//! A decision as test cases: a suite with a case for each layer, and a suite for each run.
//!
//! A case fails or has an error only if a reason of the decision is about that case. So the list
//! of tests says the same as the exit code.

use crate::model::{Case, Suite, Verdict};
use crate::numbers::{count, exact};
use oracle::gate::{Decision, Objection, Standing, Subject};
use oracle::outcome::Outcome;
use oracle::record::Mismatch;
use oracle::report::{LayerCounts, Report, Run};

/// The test cases of a report.
pub fn cases(report: &Report, decided: &Decision) -> Vec<Suite> {
    let mut suites = vec![whole(report, decided)];
    suites.extend(report.runs.iter().map(|run| of_run(report, decided, run)));
    suites.extend(report.skipped.iter().map(|skipped| Suite {
        name: skipped.scenario.clone(),
        seconds: 0.0,
        cases: vec![case("run", Verdict::Skipped(skipped.why.clone()))],
    }));
    suites
}

fn case(name: impl ToString, verdict: Verdict) -> Case {
    Case {
        name: name.to_string(),
        seconds: 0.0,
        verdict,
        counted: String::new(),
    }
}

/// What a layer counted, if it was asked: `12 of 5,000 stacks are false, 3 are imprecise; 20 of 5,100 questions have no answer`.
fn counted(counts: &LayerCounts) -> String {
    let tally = counts.tally();
    if tally.checks() == 0 {
        return String::new();
    }
    format!(
        "{} of {} stacks are false, {} are imprecise; {} of {} questions have no answer",
        count(tally.mismatches()),
        count(tally.decided()),
        count(tally.imprecise),
        count(tally.errors()),
        count(tally.checks())
    )
}

/// The decision, its layers, and the reasons about the report as a whole.
fn whole(report: &Report, decided: &Decision) -> Suite {
    let all = decided.reasons.iter();
    let texts: Vec<&str> = all.map(|reason| reason.text.as_str()).collect();
    let news = super::changes::since::headline(decided);
    let news = news.map_or(String::new(), |news| format!(": {news}"));
    let mut text = vec![format!("{}{news}", decided.outcome)];
    text.extend(texts.iter().map(|&text| text.to_owned()));
    let warnings = super::warnings::warnings(report).into_iter();
    let mut cases: Vec<Case> = warnings
        .map(|warning| case("what can be read of the VM", Verdict::Skipped(warning)))
        .collect();
    let seconds = report.runs.iter().map(|run| run.wall_s).sum();
    cases.push(Case {
        seconds,
        ..case("verdict", verdict(decided.outcome, text.join("\n")))
    });
    for layer in &decided.layers {
        let subject = Subject::Layer(layer.layer);
        let of_layer = report.mismatches.iter().zip(&decided.is_known);
        let new = of_layer.filter(|(m, known)| m.layer == layer.layer && !**known);
        let evidence = super::mismatches::examples(new.map(|(m, _)| m));
        let verdict = match of(decided.about(&subject), &evidence) {
            Verdict::Passed if layer.standing == Standing::NoData => no_data(),
            verdict => verdict,
        };
        cases.push(Case {
            counted: report.layer(layer.layer).map_or_else(String::new, counted),
            ..case(layer.layer, verdict)
        });
    }
    for known in &decided.known {
        let subject = Subject::KnownIssue(known.id.clone());
        cases.push(case(&known.id, of(decided.about(&subject), "")));
    }
    Suite {
        name: "stackwitness".into(),
        seconds,
        cases,
    }
}

fn verdict(outcome: Outcome, text: String) -> Verdict {
    match outcome {
        Outcome::Within => Verdict::Passed,
        Outcome::Over => Verdict::Failed(text),
        Outcome::NotMeasured | Outcome::Crashed => Verdict::Errored(text),
    }
}

/// What was not looked at has not passed.
fn no_data() -> Verdict {
    Verdict::Skipped("no data".into())
}

/// The verdict of a case by the reasons about the case.
fn of<'a>(reasons: impl Iterator<Item = &'a Objection>, evidence: &str) -> Verdict {
    let reasons: Vec<&Objection> = reasons.collect();
    let worst = reasons.iter().map(|reason| reason.outcome).max();
    let texts: Vec<&str> = reasons.iter().map(|reason| reason.text.as_str()).collect();
    let text = texts.join("\n") + "\n" + evidence;
    verdict(worst.unwrap_or(Outcome::Within), text.trim_end().into())
}

fn of_run(report: &Report, decided: &Decision, run: &Run) -> Suite {
    let subject = Subject::Run(run.dir.clone());
    let whole = of(decided.about(&subject), &run.notes.join("\n"));
    let mut cases = vec![Case {
        seconds: run.wall_s,
        ..case("run", whole)
    }];
    for counts in &run.layers {
        cases.push(Case {
            counted: counted(counts),
            ..case(counts.layer, of_layer(report, decided, run, counts))
        });
    }
    Suite {
        name: run.title(),
        seconds: run.wall_s,
        cases,
    }
}

/// A layer within one run fails if the layer is over its budget and the run has contributed
/// mismatches.
fn of_layer(report: &Report, decided: &Decision, run: &Run, counts: &LayerCounts) -> Verdict {
    if counts.tally().checks() == 0 {
        return no_data();
    }
    let Some(layer) = decided.layer(counts.layer) else {
        return Verdict::Passed;
    };
    let mine = |mismatch: &Mismatch| {
        mismatch.layer == counts.layer
            && report.run_of(mismatch).is_some_and(|of| of.dir == run.dir)
    };
    let flagged = report.mismatches.iter().zip(&decided.is_known);
    let (known, new): (Vec<_>, Vec<_>) = flagged.filter(|(m, _)| mine(m)).partition(|(_, k)| **k);
    let tally = counts.tally();
    let mismatches = tally.mismatches().saturating_sub(known.len() as u64);
    let decided = tally.decided() as f64;
    let over = match layer.standing {
        Standing::Over => mismatches as f64 > layer.budget * decided,
        Standing::TooImprecise => tally.imprecise as f64 > layer.imprecise_budget * decided,
        Standing::Unexplained(_) => run
            .kinds
            .iter()
            .any(|kind| kind.layer == counts.layer && kind.is_unexplained()),
        _ => false,
    };
    if !over {
        return Verdict::Passed;
    }
    let text = format!(
        "{} mismatches and {} imprecise stacks in {} checks, budgets {} and {}\n{}",
        count(mismatches),
        count(tally.imprecise),
        count(tally.decided()),
        exact(layer.budget),
        exact(layer.imprecise_budget),
        super::mismatches::examples(new.into_iter().map(|(m, _)| m))
    );
    Verdict::Failed(text.trim_end().into())
}
