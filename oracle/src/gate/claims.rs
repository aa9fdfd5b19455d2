//! Answers that no honest JVM can give, whatever its rates and the load of the machine.

use crate::Layer;
use crate::numbers;
use crate::report::Report;
use std::collections::BTreeMap;

/// A claim about all honest JVMs. Whoever knows the JVM makes the claims; the gate checks them.
#[derive(Copy, Clone, Debug)]
pub struct Claim {
    /// What an honest JVM never does, as the end of "the walker gave ...".
    pub never: &'static str,
    /// Why not, with the place in the JVM's source.
    pub why: &'static str,
    /// What contradicts the claim.
    pub breach: Breach,
}

/// What contradicts a claim.
#[derive(Copy, Clone, Debug)]
pub enum Breach {
    /// An error of which this holds.
    Error(fn(&Answered<'_>) -> bool),
    /// A mismatch whose layer and reason are so.
    Mismatch(fn(Layer, &str) -> bool),
}

impl Breach {
    /// Whether the error is one.
    pub fn is_by(&self, answered: &Answered<'_>) -> bool {
        match self {
            Breach::Error(is_broken_by) => is_broken_by(answered),
            Breach::Mismatch(_) => false,
        }
    }

    /// Whether a mismatch of the layer for this reason is one.
    pub fn is_by_mismatch(&self, layer: Layer, reason: &str) -> bool {
        match self {
            Breach::Error(_) => false,
            Breach::Mismatch(is_broken_by) => is_broken_by(layer, reason),
        }
    }
}

/// An error that a walker gave.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Answered<'a> {
    /// The layer.
    pub layer: Layer,
    /// The error code.
    pub code: i32,
    /// The name of the thread's state, where it was recorded.
    pub state: Option<&'a str>,
    /// Whether the walk begins with an intact frame, where the state was recorded (see
    /// [`ErrorCount::intact`](crate::record::ErrorCount::intact)).
    pub is_intact: bool,
}

/// A claim that a report contradicts.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// The layer.
    pub layer: Layer,
    /// [`Claim::never`].
    pub never: &'static str,
    /// [`Claim::why`].
    pub why: &'static str,
    /// How often; of mismatches, how many were written down with their stacks.
    pub count: u64,
    /// The error code, the state of the thread and the code that ran, or the method at the top of a stack, the commonest first.
    pub places: Vec<(String, u64)>,
    /// The folder of a run that shows it.
    pub run: String,
}

/// Claims that the runs of `report` contradict, in the order of `claims`.
pub fn broken(report: &Report, claims: &[Claim]) -> Vec<Broken> {
    let mut all = vec![];
    for claim in claims {
        for layer in Layer::ALL {
            all.extend(of_layer(report, claim, layer));
        }
    }
    all
}

fn of_layer(report: &Report, claim: &Claim, layer: Layer) -> Option<Broken> {
    let mut places: BTreeMap<String, u64> = BTreeMap::new();
    let (mut count, mut first) = (0, None);
    for run in &report.runs {
        let mut add = |place: String, n: u64| {
            count += n;
            first.get_or_insert(&run.dir);
            *places.entry(place).or_default() += n;
        };
        for mismatch in &report.mismatches {
            let is_of_run = mismatch.evidence.run.as_ref() == Some(&run.dir);
            if is_of_run
                && mismatch.layer == layer
                && claim.breach.is_by_mismatch(layer, &mismatch.reason)
            {
                let top = mismatch.walker.first();
                let top = top.map_or("an empty stack", |frame| &frame.method);
                add(format!("{top} is at the top"), 1);
            }
        }
        // By the layer's own counts, which have no states ...
        for counts in run.layers.iter().filter(|counts| counts.layer == layer) {
            for (&code, &n) in &counts.error {
                let answered = Answered {
                    layer,
                    code,
                    state: None,
                    is_intact: false,
                };
                if n > 0 && claim.breach.is_by(&answered) {
                    add(format!("error {code}"), n);
                }
            }
        }
        // ... and by the counts of states.
        for error in run.errors.iter().filter(|error| error.layer == layer) {
            let answered = Answered {
                layer,
                code: error.code,
                state: Some(&error.state),
                is_intact: error.intact,
            };
            let without_state = Answered {
                state: None,
                is_intact: false,
                ..answered
            };
            if error.count > 0
                && claim.breach.is_by(&answered)
                && !claim.breach.is_by(&without_state)
            {
                let place = format!("error {}, {}, {}", error.code, error.state, error.kind());
                add(place, error.count);
            }
        }
    }
    let mut places: Vec<(String, u64)> = places.into_iter().collect();
    places.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    Some(Broken {
        layer,
        never: claim.never,
        why: claim.why,
        count,
        places,
        run: first?.clone(),
    })
}

/// For example `asgct-async: 3 × an error of Java code of a thread that is not in Java: error -5, in native, libc.so.6`.
impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Broken {
            layer,
            never,
            count,
            ..
        } = self;
        write!(f, "{layer}: {} × {never}", numbers::count(*count))?;
        if let Some((place, _)) = self.places.first() {
            write!(f, ": {place}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::record::{ErrorCount, Evidence, Mismatch, ShownFrame, toy};
    use crate::report::{Exit, LayerCounts, Run};
    use crate::tally::Tally;

    const CLAIMS: [Claim; 3] = [
        Claim {
            never: "an error in the VM",
            why: "",
            breach: Breach::Error(|it| it.code == -5 && it.state == Some("in the VM")),
        },
        Claim {
            never: "an unknown state",
            why: "",
            breach: Breach::Error(|it| it.code == -7),
        },
        Claim {
            never: "a lost top",
            why: "",
            breach: Breach::Mismatch(|layer, reason| {
                layer == Layer::AsgctAsync && reason == "the top is lost"
            }),
        },
    ];

    fn run(codes: &[(i32, &str, u64)]) -> Run {
        let layer = Layer::AsgctAsync;
        let mut tally = Tally::default();
        for &(code, _, n) in codes {
            *tally.error.entry(code).or_default() += n;
        }
        let errors = codes.iter().map(|&(code, state, count)| ErrorCount {
            layer,
            code,
            state: state.into(),
            place: "libc.so.6".into(),
            intact: false,
            count,
        });
        Run {
            layers: vec![LayerCounts::new(layer, &tally)],
            errors: errors.collect(),
            dir: "runs/1".into(),
            ..Run::new("it", Exit::Code(0))
        }
    }

    #[test]
    fn each_error_contradicts_once() {
        let report = toy::report(vec![
            run(&[(-5, "in Java", 40), (-4, "in the VM", 9)]),
            run(&[(-5, "in the VM", 2), (-7, "in Java", 3)]),
        ]);
        let broken = broken(&report, &CLAIMS);
        let shown: Vec<String> = broken.iter().map(ToString::to_string).collect();
        let expected = [
            "asgct-async: 2 × an error in the VM: error -5, in the VM, libc.so.6",
            "asgct-async: 3 × an unknown state: error -7",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_mismatch_contradicts_in_its_layer() {
        let mut report = toy::report(vec![run(&[])]);
        let mismatch = |layer, reason: &str| Mismatch {
            layer,
            verdict: Verdict::Wrong,
            reason: reason.into(),
            thread: String::new(),
            walker: vec![ShownFrame {
                method: "a.B.c()V".into(),
                ..ShownFrame::default()
            }],
            truth: vec![],
            at_frame: Some(0),
            cause: None,
            evidence: Evidence {
                run: Some("runs/1".into()),
                ..Evidence::default()
            },
        };
        report.mismatches = vec![
            mismatch(Layer::AsgctAsync, "the top is lost"),
            mismatch(Layer::AsgctAsync, "other"),
            mismatch(Layer::Gst, "the top is lost"),
        ];
        let broken = broken(&report, &CLAIMS);
        let shown: Vec<String> = broken.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            ["asgct-async: 1 × a lost top: a.B.c()V is at the top"]
        );
    }

    #[test]
    fn honest_runs_contradict_nothing() {
        let report = toy::report(vec![run(&[(-5, "in Java", 40), (-4, "in the VM", 9)])]);
        assert!(broken(&report, &CLAIMS).is_empty());
    }
}
