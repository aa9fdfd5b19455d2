//! The page of a check of two builds.

use super::changes::check::{check, findings, rise};
use super::summary::{name_of_jdk, title_of_layer};
use crate::model::{Answer, Checked, Finding, Shares, Tone};
use oracle::Layer;
use oracle::gate::{self, Class, What};
use oracle::outcome::Outcome;
use oracle::report::Report;
use std::collections::BTreeSet;

/// What a person wants to know of a check, with the reports of both builds.
pub fn checked(answer: &gate::Answer, base: &Report, new: &Report) -> Checked {
    let document = check(answer, base, new);
    // The page has a section of its own for what is worse.
    let tables = document.sections.into_iter();
    let tables = tables.filter(|section| section.id != "worse");
    let mut findings = findings(answer, new);
    let is_worse = !findings.is_empty();
    let suspicion = answer.suspicion.iter().filter(|_| !is_worse);
    findings.extend(suspicion.map(|suspicion| Finding {
        is_sure: false,
        ..rise(new, &suspicion.rise)
    }));
    let bad = worse_classes(answer);
    let shares = |class: Class| {
        let of_class = answer.bounds.iter().filter(|bound| bound.class == class);
        // A row of nothing says little of missing answers; that no stack is false is what everybody wants to see.
        let measured = of_class.filter(|bound| {
            let is_seen = class == Class::False || bound.base.0 + bound.new.0 > 0;
            bound.is_measured() && is_seen
        });
        let shown = measured.map(|bound| Shares {
            layer: bound.layer,
            title: title_of_layer(new, bound.layer),
            counts: [bound.base, bound.new],
            at_most: bound.at_most,
            tone: if bad.contains(&(bound.layer, class)) {
                Tone::Bad
            } else {
                Tone::Plain
            },
        });
        shown.collect()
    };
    Checked {
        warnings: document.warnings,
        answer: document.answer.unwrap_or_else(|| Answer {
            outcome: answer.outcome,
            verdict: answer.outcome.to_string(),
            headline: None,
            reasons: vec![],
        }),
        builds: [base, new].map(|report| name_of_jdk(&report.jdk)),
        pairs: answer.pairs,
        minutes: answer.minutes,
        findings,
        falsehoods: shares(Class::False),
        unanswered: shares(Class::NoAnswer),
        tables: tables.collect(),
    }
}

/// The layers and classes that are certainly worse.
fn worse_classes(answer: &gate::Answer) -> BTreeSet<(Layer, Class)> {
    if answer.outcome != Outcome::Over {
        return BTreeSet::new();
    }
    let class = |what: &What| match what {
        What::Error(_) | What::Refused(_) | What::NoAnswerAt(_) => Some(Class::NoAnswer),
        What::Wrong(_) | What::Truncated(_) | What::FalseAt(_) => Some(Class::False),
        _ => None,
    };
    let rises = answer.rises.iter();
    let rises = rises.filter_map(|rise| Some((rise.cell.layer, class(&rise.cell.what)?)));
    let untrue = answer
        .untrue
        .iter()
        .map(|&(layer, _)| (layer, Class::False));
    rises.chain(untrue).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::count;
    use crate::{render, sample};
    use oracle::Verdict;
    use oracle::gate::{Course, Limits, Turn};
    use oracle::record::CauseName;

    const PAIRS: usize = 30;

    /// Reports of equal runs, of which those of the new build have so many times the false stacks.
    fn page(times: u64) -> (gate::Answer, String) {
        let mut base = sample::report();
        base.runs = vec![base.runs[0].clone(); PAIRS];
        base.skipped.clear();
        let mut new = base.clone();
        for run in &mut new.runs {
            run.layers
                .iter_mut()
                .for_each(|counts| counts.wrong *= times);
            run.kinds.iter_mut().for_each(|kind| kind.count *= times);
        }
        let mut course = Course::new(0.01);
        for (of_base, of_new) in base.runs.iter().zip(&new.runs) {
            let turn = |report, run| Turn::new(report, run).expect("one program");
            course.add(&turn(&base, of_base), &turn(&new, of_new));
        }
        let limits = Limits {
            detect: 0.9,
            minutes: 1.0,
        };
        let answer = gate::Answer::new(&course, &base, &new, &[], 1.0).last(limits, &course, false);
        // The sample's evidence, of the kind that became more frequent.
        let kind = answer.rises.first().and_then(|rise| rise.cell.what.cause());
        for mismatch in &mut new.mismatches {
            mismatch.verdict = Verdict::Wrong;
            mismatch.cause = kind.map(CauseName::new);
        }
        let page = render::checked(&checked(&answer, &base, &new));
        (answer, page)
    }

    #[test]
    fn the_page_has_the_answer_an_example_and_the_counts_of_both_builds() {
        let (answer, page) = page(50);
        assert_eq!(answer.outcome, Outcome::Over, "{answer:?}");
        let bound = answer
            .bounds
            .iter()
            .find(|bound| (bound.layer, bound.class) == (Layer::AsgctAsync, Class::False));
        let bound = bound.expect("it was measured");
        assert!(bound.new.0 > bound.base.0, "{bound:?}");
        for told in [
            "<h1>The new build is worse:</h1>".to_owned(),
            "<table class=\"stacks\">".into(),
            format!("{} of {}", count(bound.base.0), count(bound.base.1)),
            format!("{} of {}", count(bound.new.0), count(bound.new.1)),
            "<li class=\"failed\">".into(),
        ] {
            assert!(page.contains(&told), "{told}: {page}");
        }
    }

    #[test]
    fn equal_builds_have_no_finding() {
        let (answer, page) = page(1);
        assert_ne!(answer.outcome, Outcome::Over, "{answer:?}");
        for absent in ["<table class=\"stacks\">", "<li class=\"failed\">"] {
            assert!(!page.contains(absent), "{absent}: {page}");
        }
    }
}
