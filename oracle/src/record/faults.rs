//! Fault injection: which faults a run injects, and what became of them.

use crate::mutants::{LieKind, Outcome};
use crate::{Layer, Verdict};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Ways to break the hooks on purpose.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sabotage {
    /// A `pop` does nothing.
    DropPops,
    /// A `pop` takes its caller's entry too.
    DoublePops,
    /// A `push` does nothing.
    DropPushes,
}

impl Sabotage {
    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Sabotage::DropPops => "drop-pops",
            Sabotage::DoublePops => "double-pops",
            Sabotage::DropPushes => "drop-pushes",
        }
    }
}

impl FromStr for Sabotage {
    type Err = String;

    fn from_str(name: &str) -> Result<Sabotage, String> {
        let known = [
            Sabotage::DropPops,
            Sabotage::DoublePops,
            Sabotage::DropPushes,
        ];
        let found = known.into_iter().find(|way| way.name() == name);
        found.ok_or_else(|| {
            let known = known.map(Sabotage::name).join(", ");
            format!("unknown sabotage `{name}`; known: {known}")
        })
    }
}

/// Which lies are told, where and how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lies {
    /// The layers; not `ground`, which has no walker.
    pub layers: Vec<Layer>,
    /// The kinds, one of them at random each time.
    pub kinds: Vec<LieKind>,
    /// One answer in so many is a lie.
    pub one_in: u64,
}

impl FromStr for Lies {
    type Err = String;

    /// Reads `KIND,…[:LAYER,…[:ONE_IN]]`, where `all` stands for all kinds or layers.
    fn from_str(text: &str) -> Result<Lies, String> {
        fn list<T: FromStr<Err = String> + Copy>(text: &str, all: &[T]) -> Result<Vec<T>, String> {
            match text {
                "all" => Ok(all.into()),
                _ => text.split(',').map(str::parse).collect(),
            }
        }
        let mut parts = text.splitn(3, ':');
        let mut part = |otherwise| parts.next().unwrap_or(otherwise);
        let kinds = list(part("all"), &LieKind::ALL)?;
        let has_walker = |layer: &Layer| layer.row().walker.is_some();
        let walked: Vec<_> = Layer::ALL.into_iter().filter(has_walker).collect();
        let layers = list(part("all"), &walked)?;
        if let Some(layer) = layers.iter().find(|layer| !has_walker(layer)) {
            return Err(format!(
                "layer `{layer}` has no walker that could answer falsely"
            ));
        }
        let one_in = part("1000").parse().ok().filter(|&n| n > 0);
        Ok(Lies {
            layers,
            kinds,
            one_in: one_in.ok_or("one in how many? a whole number above 0")?,
        })
    }
}

/// How often lies of one kind came to one end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LieCount {
    /// The layer that was lied to.
    pub layer: Layer,
    /// The lie: a [`LieKind`] or, in `ground`, a [`Sabotage`].
    pub kind: String,
    /// The verdict that was given.
    pub verdict: Verdict,
    /// Whether that is right; where it was not reported, why.
    pub outcome: Outcome,
    /// How often.
    pub count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lies_are_read() {
        let read = |text: &str| text.parse::<Lies>();
        let all = read("all").expect("it is right");
        assert_eq!((all.kinds.len(), all.layers.len()), (11, 5));
        assert_eq!(all.one_in, 1000);
        let some = Lies {
            layers: vec![Layer::Gst],
            kinds: vec![LieKind::Swap, LieKind::DropTop],
            one_in: 5,
        };
        assert_eq!(read("swap,drop-top:gst:5"), Ok(some));
        for wrong in ["", "x", "swap:ground", "swap:gst:0", "swap:gst:5:6"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
