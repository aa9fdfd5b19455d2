//! The rates that a scenario allows.

use crate::Layer;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The highest rate of mismatches, or of imprecise stacks, that each layer may show, from 0 to 1.
/// For a layer that is not named the rate is 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Budget(pub BTreeMap<Layer, f64>);

impl Budget {
    /// The highest rate that `layer` may show.
    pub fn limit(&self, layer: Layer) -> f64 {
        self.0.get(&layer).copied().unwrap_or(0.0)
    }

    /// Takes the lower limit where `other` has one too.
    pub fn tighten(&mut self, other: Budget) {
        for (layer, limit) in other.0 {
            let old = self.0.entry(layer).or_insert(limit);
            *old = old.min(limit);
        }
    }
}
