//! Fault injection: the faults that a run injects, and how they ended.

use crate::mutants::{Detection, FaultKind};
use crate::{Layer, Verdict};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Ways to break the hooks on purpose.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookFault {
    /// A `pop` does nothing.
    DropPops,
    /// A `pop` takes its caller's entry too.
    DoublePops,
    /// A `push` does nothing.
    DropPushes,
}

impl HookFault {
    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            HookFault::DropPops => "drop-pops",
            HookFault::DoublePops => "double-pops",
            HookFault::DropPushes => "drop-pushes",
        }
    }
}

impl FromStr for HookFault {
    type Err = String;

    fn from_str(name: &str) -> Result<HookFault, String> {
        let known = [
            HookFault::DropPops,
            HookFault::DoublePops,
            HookFault::DropPushes,
        ];
        let found = known.into_iter().find(|way| way.name() == name);
        found.ok_or_else(|| {
            let known = known.map(HookFault::name).join(", ");
            format!("unknown fault of a hook `{name}`; known: {known}")
        })
    }
}

/// The faults that are injected into the answers of walkers, where and how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Faults {
    /// The layers; not `ground`, which has no walker.
    pub layers: Vec<Layer>,
    /// The kinds. Each fault is of a random kind.
    pub kinds: Vec<FaultKind>,
    /// One answer of this many is faulty.
    pub one_in: u64,
}

impl FromStr for Faults {
    type Err = String;

    /// Reads `KIND,…[:LAYER,…[:ONE_IN]]`, where `all` stands for all kinds or layers.
    fn from_str(text: &str) -> Result<Faults, String> {
        fn list<T: FromStr<Err = String> + Copy>(text: &str, all: &[T]) -> Result<Vec<T>, String> {
            match text {
                "all" => Ok(all.into()),
                _ => text.split(',').map(str::parse).collect(),
            }
        }
        let mut parts = text.splitn(3, ':');
        let mut part = |otherwise| parts.next().unwrap_or(otherwise);
        let kinds = list(part("all"), &FaultKind::ALL)?;
        let has_walker = |layer: &Layer| layer.row().walker.is_some();
        let walked: Vec<_> = Layer::ALL.into_iter().filter(has_walker).collect();
        let layers = list(part("all"), &walked)?;
        if let Some(layer) = layers.iter().find(|layer| !has_walker(layer)) {
            return Err(format!(
                "layer `{layer}` has no walker that could answer falsely"
            ));
        }
        let one_in = part("1000").parse().ok().filter(|&n| n > 0);
        Ok(Faults {
            layers,
            kinds,
            one_in: one_in.ok_or("one in how many? a whole number above 0")?,
        })
    }
}

/// How often faults of one kind ended in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultCount {
    /// The layer whose walker answered falsely.
    pub layer: Layer,
    /// The fault: a [`FaultKind`] or, in `ground`, a [`HookFault`].
    pub kind: String,
    /// The verdict on the faults.
    pub verdict: Verdict,
    /// Whether this verdict is right, or why the fault was not reported.
    pub outcome: Detection,
    /// How often.
    pub count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read() {
        let read = |text: &str| text.parse::<Faults>();
        let all = read("all").expect("it is right");
        assert_eq!(all.kinds, FaultKind::ALL);
        // All but the layer that compares the recorded calls with themselves.
        assert_eq!(all.layers, Layer::ALL[1..]);
        assert_eq!(all.one_in, 1000);
        let some = Faults {
            layers: vec![Layer::Gst],
            kinds: vec![FaultKind::Swap, FaultKind::DropTop],
            one_in: 5,
        };
        assert_eq!(read("swap,drop-top:gst:5"), Ok(some));
        for wrong in ["", "x", "swap:ground", "swap:gst:0", "swap:gst:5:6"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
