//! One kind of mismatch that somebody looks for, and where it was seen.

use super::kinds;
use crate::Layer;
use crate::record::{CauseName, Mismatch};
use crate::report::{Jdk, Report, Run};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A kind of mismatch: a cause, a layer, or a cause in a layer. Its text is `CAUSE`, `LAYER` or `LAYER:CAUSE`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SoughtKind {
    /// The layer; `None`: any layer.
    pub layer: Option<Layer>,
    /// The cause; `None`: any cause.
    pub cause: Option<CauseName>,
}

impl SoughtKind {
    fn matches(&self, layer: Layer, cause: Option<&CauseName>) -> bool {
        let is_of_layer = self.layer.is_none_or(|sought| sought == layer);
        let is_of_cause = self.cause.is_none() || self.cause.as_ref() == cause;
        is_of_layer && is_of_cause
    }

    /// Whether a mismatch is of this kind.
    pub fn has(&self, mismatch: &Mismatch) -> bool {
        self.matches(mismatch.layer, mismatch.cause.as_ref())
    }

    /// How many mismatches of this kind a run has, by layer. Layers without any are left out.
    pub fn count(&self, report: &Report, run: &Run) -> BTreeMap<Layer, u64> {
        let mut found = BTreeMap::new();
        for kind in kinds::of_run(report, run) {
            if self.matches(kind.layer, kind.cause.as_ref()) {
                *found.entry(kind.layer).or_default() += kind.count;
            }
        }
        found
    }

    /// The kinds of mismatches that a report has, as texts, the most frequent first.
    pub fn all_of(report: &Report) -> Vec<String> {
        let mut all: BTreeMap<String, u64> = BTreeMap::new();
        for run in &report.runs {
            for kind in kinds::of_run(report, run) {
                let text = match &kind.cause {
                    Some(cause) => format!("{}:{cause}", kind.layer),
                    None => kind.layer.to_string(),
                };
                *all.entry(text).or_default() += kind.count;
            }
        }
        let mut all: Vec<(String, u64)> = all.into_iter().collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        all.into_iter().map(|(text, _)| text).collect()
    }
}

impl fmt::Display for SoughtKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.layer, &self.cause) {
            (Some(layer), Some(cause)) => write!(f, "{layer}:{cause}"),
            (Some(layer), None) => write!(f, "{layer}"),
            (None, Some(cause)) => write!(f, "{cause}"),
            (None, None) => f.write_str("any mismatch"),
        }
    }
}

impl FromStr for SoughtKind {
    type Err = String;

    fn from_str(text: &str) -> Result<SoughtKind, String> {
        let cause = |name: &str| Some(CauseName::new(name)).filter(|_| !name.is_empty());
        match text.split_once(':') {
            Some((layer, name)) => Ok(SoughtKind {
                layer: Some(layer.parse()?),
                cause: cause(name),
            }),
            None => match text.parse() {
                Ok(layer) => Ok(SoughtKind {
                    layer: Some(layer),
                    cause: None,
                }),
                Err(_) => Ok(SoughtKind {
                    layer: None,
                    cause: cause(text),
                }),
            },
        }
    }
}

/// How often one JDK showed a kind of mismatch in runs of one program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// The JDK.
    pub jdk: Jdk,
    /// Runs in which a layer had checks.
    pub runs: u64,
    /// Of these the runs with a mismatch of the kind.
    pub runs_with: u64,
    /// Mismatches of the kind and judged stacks, by layer: sums over the runs. Layers without such a mismatch are left
    /// out.
    pub layers: BTreeMap<Layer, (u64, u64)>,
}

impl Seen {
    /// What runs of one JDK show.
    pub fn of(kind: &SoughtKind, jdk: Jdk, report: &Report, runs: &[&Run]) -> Seen {
        let judged = |run: &Run| -> u64 { run.layers.iter().map(|it| it.tally().decided()).sum() };
        let mut seen = Seen {
            jdk,
            runs: runs.iter().filter(|run| judged(run) > 0).count() as u64,
            ..Seen::default()
        };
        for run in runs {
            let counts = kind.count(report, run);
            seen.runs_with += u64::from(!counts.is_empty());
            for (layer, count) in counts {
                seen.layers.entry(layer).or_default().0 += count;
            }
        }
        for counts in runs.iter().flat_map(|run| &run.layers) {
            if let Some((_, of)) = seen.layers.get_mut(&counts.layer) {
                *of += counts.tally().decided();
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::record::KindCount;
    use crate::report::{Exit, LayerCounts, SCHEMA};
    use crate::tally::Tally;

    fn run(of: &[(Layer, &str, u64)]) -> Run {
        let mut run = Run::new("p", Exit::Code(0));
        for &(layer, cause, count) in of {
            run.kinds.push(KindCount {
                layer,
                verdict: Verdict::Wrong,
                cause: Some(CauseName::new(cause)),
                place: "A.b".into(),
                count,
            });
            let tally = Tally {
                matches: 10,
                wrong: count,
                ..Tally::default()
            };
            run.layers.push(LayerCounts::new(layer, &tally));
        }
        run
    }

    fn report(runs: Vec<Run>) -> Report {
        Report {
            schema: SCHEMA,
            scenario: "s".into(),
            jdk: Jdk::default(),
            complete: true,
            runs,
            layers: vec![],
            mismatches: vec![],
            budget: Default::default(),
            imprecise_budget: Default::default(),
            statement_budget: Default::default(),
            required: vec![],
            planned: 1,
            skipped: vec![],
            origins: vec![],
        }
    }

    #[test]
    fn a_kind_is_a_cause_or_a_layer_or_both() {
        let kind = |text: &str| text.parse::<SoughtKind>().expect("a kind");
        let report = report(vec![run(&[
            (Layer::CallEdge, "leaf-call", 3),
            (Layer::AsgctGst, "leaf-call", 2),
            (Layer::AsgctAsync, "no-record", 9),
        ])]);
        let count = |text: &str| -> u64 {
            let counts = kind(text).count(&report, &report.runs[0]);
            counts.values().sum()
        };
        assert_eq!(count("leaf-call"), 5);
        assert_eq!(count("call-edge"), 3);
        assert_eq!(count("asgct-gst:leaf-call"), 2);
        assert_eq!(count("call-edge:no-record"), 0);
        assert!("no-layer:leaf-call".parse::<SoughtKind>().is_err());
        for text in ["leaf-call", "call-edge", "asgct-gst:leaf-call"] {
            assert_eq!(kind(text).to_string(), text);
        }
        let all = SoughtKind::all_of(&report);
        assert_eq!(all[0], "asgct-async:no-record");
        assert!(all.iter().all(|text| count(text) > 0), "{all:?}");
    }

    #[test]
    fn a_jdk_that_ran_nothing_has_no_runs() {
        let kind = SoughtKind {
            layer: None,
            cause: Some(CauseName::new("leaf-call")),
        };
        let report = report(vec![
            run(&[(Layer::CallEdge, "leaf-call", 3)]),
            run(&[(Layer::CallEdge, "no-record", 1)]),
            Run::new("p", Exit::Code(1)),
        ]);
        let runs: Vec<&Run> = report.runs.iter().collect();
        let seen = Seen::of(&kind, Jdk::default(), &report, &runs);
        assert_eq!((seen.runs, seen.runs_with), (2, 1));
        assert_eq!(seen.layers, BTreeMap::from([(Layer::CallEdge, (3, 24))]));
        let none = Seen::of(&kind, Jdk::default(), &report, &runs[2..]);
        assert_eq!(none, Seen::default());
    }
}
