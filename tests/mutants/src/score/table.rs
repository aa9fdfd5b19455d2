//! The score as Markdown: sums first, then a line for each trial.

use super::trial::{Counts, Ending, Result};
use std::fmt::Write;

/// The score of all trials so far.
pub fn render(judged: &[Result]) -> String {
    let (honest, mutants): (Vec<_>, Vec<_>) = judged.iter().partition(|result| result.honest);
    let right = |results: &[&Result]| results.iter().filter(|result| result.is_right()).count();
    let mut out = format!(
        "{} of {} mutants failed the gate. {} of {} honest runs passed it.\n\n",
        right(&mutants),
        mutants.len(),
        right(&honest),
        honest.len()
    );
    out += "| VM | what it does | outcome | seconds | strikes | layers that failed, with their checks |\n";
    out += "| --- | --- | --- | ---: | ---: | --- |\n";
    for result in judged {
        let mark = if result.is_right() { "" } else { "**" };
        let _ = writeln!(
            out,
            "| {} | {} | {mark}{}{mark} | {:.0} | {} | {} |",
            result.name,
            result.does,
            outcome(result.outcome),
            result.seconds,
            result.strikes,
            layers(result)
        );
    }
    out + &excuses(&mutants, &honest)
}

/// The known causes that mutants have much more often than the honest VMs. Such a cause excuses a
/// mistake, unless the mistake is what the cause describes.
fn excuses(mutants: &[&Result], honest: &[&Result]) -> String {
    let usual = |cause: &str| {
        let counts = honest.iter().filter_map(|result| result.causes.get(cause));
        counts.copied().max().unwrap_or(0)
    };
    let mut out = String::new();
    for result in mutants {
        let more: Vec<_> = result
            .causes
            .iter()
            .filter(|(cause, count)| {
                !cause.ends_with(" unexplained") && **count > 3 * usual(cause) + 8
            })
            .map(|(cause, count)| format!("{cause} {count} (honest: {})", usual(cause)))
            .collect();
        if !more.is_empty() {
            let _ = writeln!(out, "| {} | {} |", result.name, more.join(", "));
        }
    }
    if out.is_empty() {
        return out;
    }
    let title = "Known causes of mutants, more than three times as frequent as in any honest run";
    format!("\n{title}:\n\n| VM | causes |\n| --- | --- |\n{out}")
}

/// One trial in a line of text.
pub fn sentence(result: &Result) -> String {
    format!(
        "{} after {:.0} s and {} strikes; {}",
        outcome(result.outcome),
        result.seconds,
        result.strikes,
        layers(result)
    )
}

fn outcome(outcome: Ending) -> &'static str {
    match outcome {
        Ending::Passed => "passed",
        Ending::Failed => "failed",
        Ending::Crashed => "crashed or hung",
        Ending::NotMeasured => "not measured",
        Ending::Deadline => "ended at the deadline",
        Ending::Broken => "ended with an exit code that no gate has",
    }
}

/// The layers that failed; for a mutant that survived, what each layer saw.
fn layers(result: &Result) -> String {
    let of = |layer: &str| -> Vec<&Counts> {
        let same = result.layers.iter().filter(|counts| counts.layer == layer);
        same.collect()
    };
    if !result.failed.is_empty() {
        let told = result.failed.iter().map(|layer| {
            let checks: u64 = of(layer).iter().map(|counts| counts.checks).sum();
            format!("{layer} ({checks})")
        });
        return told.collect::<Vec<_>>().join(", ");
    }
    let never = (!result.honest && result.strikes == 0)
        .then(|| "the gate's programs never come to the mistake's place".to_owned());
    let seen = result.layers.iter().map(|counts| {
        format!(
            "{}: {} of {} wrong, {} truncated",
            counts.layer, counts.wrong, counts.checks, counts.truncated
        )
    });
    never.into_iter().chain(seen).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(name: &str, honest: bool, outcome: Ending, failed: &[&str]) -> Result {
        Result {
            name: name.into(),
            does: "something".into(),
            honest,
            outcome,
            seconds: 61.4,
            strikes: 7,
            failed: failed.iter().map(|&layer| layer.into()).collect(),
            layers: vec![Counts {
                layer: "gst".into(),
                checks: 900,
                unverifiable: 1,
                window: 2,
                truncated: 3,
                wrong: 4,
                error: Default::default(),
            }],
            causes: [("gst leaf-call".to_owned(), if honest { 2 } else { 15 })].into(),
        }
    }

    #[test]
    fn the_score_counts_duties_done_and_marks_the_others() {
        let text = render(&[
            result("honest", true, Ending::Passed, &[]),
            result("alarm", true, Ending::Failed, &["gst"]),
            result("caught", false, Ending::Failed, &["gst"]),
            result("survivor", false, Ending::Passed, &[]),
            result("crash", false, Ending::Crashed, &[]),
            Result {
                strikes: 0,
                ..result("idle", false, Ending::Passed, &[])
            },
        ]);
        assert!(
            text.starts_with("1 of 4 mutants failed the gate. 1 of 2 honest runs passed it.\n")
        );
        assert!(text.contains("| caught | something | failed | 61 | 7 | gst (900) |"));
        assert!(text.contains(
            "| survivor | something | **passed** | 61 | 7 | gst: 4 of 900 wrong, 3 truncated |"
        ));
        assert!(
            text.contains("| idle | something | **passed** | 61 | 0 | the gate's programs never")
        );
        assert!(text.contains("| caught | gst leaf-call 15 (honest: 2) |"));
        assert!(text.contains("| alarm | something | **failed** |"));
    }
}
