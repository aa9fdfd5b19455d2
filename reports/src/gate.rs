//! The gate's decision for a terminal or a log: one line for each layer.

use oracle::Layer;
use oracle::gate::{Decision, LayerDecision, Standing};
use oracle::report::Report;
use std::fmt::Write;

/// Renders a decision.
pub fn render(decision: &Decision) -> String {
    let mut out = String::new();
    for layer in &decision.layers {
        let _ = writeln!(out, "gate  {}", line(layer));
    }
    for known in &decision.known {
        let too_many = if known.too_many {
            ", more than it may have"
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "known  {}: {} mismatches{too_many} ({})",
            known.id, known.mismatches, known.link
        );
    }
    for id in &decision.passes {
        let _ = writeln!(out, "unexpected pass  {id}: not seen; is it fixed?");
    }
    let _ = writeln!(out, "gate: {}", decision.outcome);
    for reason in &decision.reasons {
        let _ = writeln!(out, "  {reason}");
    }
    out
}

fn line(layer: &LayerDecision) -> String {
    let standing = match layer.standing {
        Standing::Passes => "pass".into(),
        Standing::Over => "over budget".into(),
        Standing::TooFew(more) => format!("too few checks: {more} more without a mismatch needed"),
        Standing::NoData => "no data".into(),
        Standing::Missing => "missing".into(),
    };
    let bound = layer
        .upper95
        .map_or("no data".into(), |bound| format!("{bound:.2e}"));
    format!(
        "{:<15}  {} mismatches in {} checks ({} known)  upper95 {bound}  budget {}  {standing}",
        layer.layer, layer.mismatches, layer.decided, layer.known, layer.budget
    )
}

/// How many mismatches are shown as evidence.
const SHOWN: usize = 3;

/// Why a layer did not pass: its decision, and the first mismatches with both stacks.
pub fn evidence(report: &Report, decision: &Decision, layer: Layer) -> String {
    let mut out = String::new();
    for of_layer in decision
        .layers
        .iter()
        .filter(|decision| decision.layer == layer)
    {
        let _ = writeln!(out, "{}", line(of_layer));
    }
    for reason in &decision.reasons {
        let _ = writeln!(out, "{reason}");
    }
    let mismatches = report
        .mismatches
        .iter()
        .filter(|mismatch| mismatch.layer == layer);
    for mismatch in mismatches.take(SHOWN) {
        let _ = write!(out, "\n{}", crate::stacks::side_by_side(mismatch));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::gate::{KnownIssue, KnownIssues, decide};

    #[test]
    fn a_bit_of_everything() {
        let report = crate::sample::report();
        let issue = |id: &str, signature: &str| KnownIssue {
            id: id.into(),
            jdk: Some("17-21".into()),
            platform: None,
            layer: Layer::AsgctAsync,
            signature: signature.into(),
            max_rate: 0.01,
            link: "https://example.org".into(),
        };
        let known = KnownIssues {
            issues: vec![issue("JDK-1", "at x.A.<init>"), issue("JDK-2", "at y.B")],
        };
        let decision = decide(&report, &known, "x86_64");
        let told = render(&decision) + "\n" + &evidence(&report, &decision, Layer::AsgctAsync);
        insta::assert_snapshot!(told);
    }
}
