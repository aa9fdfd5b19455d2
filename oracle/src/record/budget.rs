//! Whether a layer's mismatches are within what a scenario allows.

use crate::Layer;
use crate::tally::Tally;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The highest mismatch rate that each layer may show. A layer that is not named may show
/// none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Budget(pub BTreeMap<Layer, f64>);

/// How a layer stands against its budget.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Standing {
    /// The observed rate is within the budget.
    Within,
    /// The observed rate is over the budget.
    Over,
    /// Nothing was decided in this layer.
    NoData,
}

impl Budget {
    /// The highest rate that `layer` may show.
    pub fn limit(&self, layer: Layer) -> f64 {
        self.0.get(&layer).copied().unwrap_or(0.0)
    }

    /// Judges the observed rate of `tally`.
    pub fn standing(&self, layer: Layer, tally: &Tally) -> Standing {
        match tally.mismatch_rate() {
            None => Standing::NoData,
            Some(rate) if rate > self.limit(layer) => Standing::Over,
            Some(_) => Standing::Within,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unnamed_layer_may_show_none() {
        let budget = Budget(BTreeMap::from([(Layer::AsgctAsync, 0.01)]));
        let tally = |matches, wrong| Tally {
            matches,
            wrong,
            ..Tally::default()
        };
        assert_eq!(budget.standing(Layer::Gst, &tally(99, 1)), Standing::Over);
        assert_eq!(budget.standing(Layer::Gst, &tally(99, 0)), Standing::Within);
        assert_eq!(budget.standing(Layer::Gst, &tally(0, 0)), Standing::NoData);
        assert_eq!(
            budget.standing(Layer::AsgctAsync, &tally(99, 1)),
            Standing::Within
        );
        assert_eq!(
            budget.standing(Layer::AsgctAsync, &tally(98, 2)),
            Standing::Over
        );
    }
}
