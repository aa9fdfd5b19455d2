//! Answers that no honest JVM can give, whatever its rates and the load of the machine.

use crate::Layer;
use crate::report::{Report, Run};
use std::collections::BTreeMap;

/// A claim about all honest JVMs. Whoever knows the JVM makes the claims; the gate checks them.
#[derive(Copy, Clone, Debug)]
pub struct Claim {
    /// What an honest JVM never does, as the end of "the walker gave ...".
    pub never: &'static str,
    /// Why not, with the place in the JVM's source.
    pub why: &'static str,
    /// Whether an error contradicts the claim.
    pub is_broken_by: fn(&Answered<'_>) -> bool,
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
    /// How often.
    pub count: u64,
    /// The error code, the state of the thread and the code that ran, the commonest first.
    pub places: Vec<(String, u64)>,
    /// The folder of a run that shows it.
    pub run: String,
}

/// Claims that the runs of `report` contradict, in the order of `claims`.
pub fn broken(report: &Report, claims: &[Claim]) -> Vec<Broken> {
    let mut all = vec![];
    for claim in claims {
        for layer in Layer::ALL {
            all.extend(of_layer(&report.runs, claim, layer));
        }
    }
    all
}

fn of_layer(runs: &[Run], claim: &Claim, layer: Layer) -> Option<Broken> {
    let mut places: BTreeMap<String, u64> = BTreeMap::new();
    let (mut count, mut first) = (0, None);
    for run in runs {
        let mut add = |place: String, n: u64| {
            count += n;
            first.get_or_insert(&run.dir);
            *places.entry(place).or_default() += n;
        };
        // By the layer's own counts, which have no states ...
        for counts in run.layers.iter().filter(|counts| counts.layer == layer) {
            for (&code, &n) in &counts.error {
                let answered = Answered {
                    layer,
                    code,
                    state: None,
                };
                if n > 0 && (claim.is_broken_by)(&answered) {
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
            };
            let without_state = Answered {
                state: None,
                ..answered
            };
            if error.count > 0
                && (claim.is_broken_by)(&answered)
                && !(claim.is_broken_by)(&without_state)
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
        write!(f, "{layer}: {count} × {never}")?;
        if let Some((place, _)) = self.places.first() {
            write!(f, ": {place}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ErrorCount, toy};
    use crate::report::{Exit, LayerCounts};
    use crate::tally::Tally;

    const CLAIMS: [Claim; 2] = [
        Claim {
            never: "an error in the VM",
            why: "",
            is_broken_by: |it| it.code == -5 && it.state == Some("in the VM"),
        },
        Claim {
            never: "an unknown state",
            why: "",
            is_broken_by: |it| it.code == -7,
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
    fn honest_runs_contradict_nothing() {
        let report = toy::report(vec![run(&[(-5, "in Java", 40), (-4, "in the VM", 9)])]);
        assert!(broken(&report, &CLAIMS).is_empty());
    }
}
