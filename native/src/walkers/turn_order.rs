//! Layers that ask walkers at the same instants take turns, so that their walkers meet the same threads.

use oracle::TruthKind::{Here, Next};
use oracle::record::Config;
use oracle::{LAYERS, Layer, LayerRow, When};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// The order in which the layers of one kind of instant ask their walkers: one after the other.
pub struct TurnOrder {
    layers: Vec<Layer>,
    /// How many turns were taken.
    taken: AtomicUsize,
}

impl TurnOrder {
    /// The layers whose samples are judged as they are.
    pub fn of_samples(config: &Config) -> TurnOrder {
        let alone = |row: &LayerRow| row.when == When::Signal && !row.layer.rests_on(Next);
        TurnOrder::new(config, alone)
    }

    /// The layers whose samples are compared with GetStackTrace at the next safepoint.
    pub fn with_gst(config: &Config) -> TurnOrder {
        let with_gst = |row: &LayerRow| row.when == When::Signal && row.layer.rests_on(Next);
        TurnOrder::new(config, with_gst)
    }

    /// The layers whose walkers are compared with GetStackTrace at the same place, at these instants.
    pub fn here(config: &Config, when: When) -> TurnOrder {
        TurnOrder::new(config, |row| row.when == when && row.layer.rests_on(Here))
    }

    /// Those of the runner's layers that are among the rows of `kind`, and have checks in the run's kind of
    /// program. Without such a layer the usual layers: other layers live on their samples.
    fn new(config: &Config, kind: impl Fn(&LayerRow) -> bool) -> TurnOrder {
        let hooked = config.hooks.is_on();
        let rows = || {
            let rows = LAYERS.iter().filter(|row| row.program.is_for(hooked));
            rows.filter(|row| kind(row))
        };
        let asked = rows().filter(|row| config.layers.contains(&row.layer));
        let mut layers: Vec<Layer> = asked.map(|row| row.layer).collect();
        if layers.is_empty() {
            layers.extend(rows().filter(|row| row.usual).map(|row| row.layer));
        }
        TurnOrder {
            layers,
            taken: AtomicUsize::new(0),
        }
    }

    /// The layer whose turn it is, if there is a layer.
    pub fn next_layer(&self) -> Option<Layer> {
        let turn = self.taken.fetch_add(1, Relaxed);
        self.layers
            .get(turn.checked_rem(self.layers.len())?)
            .copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(hooks: &str, layers: &[&str]) -> Config {
        serde_json::from_value(serde_json::json!({
            "run_dir": "", "trace_class": "", "seed": 1, "hooks": hooks, "layers": layers,
        }))
        .expect("a configuration")
    }

    #[test]
    fn the_layers_of_the_runner_take_turns() {
        let config = config("none", &["gst", "call-edge", "asgct-gst"]);
        let turns = TurnOrder::new(&config, |row| row.when == When::Signal);
        let three = [turns.next_layer(), turns.next_layer(), turns.next_layer()];
        let expected = [Layer::AsgctGst, Layer::CallEdge, Layer::AsgctGst];
        assert_eq!(three, expected.map(Some));
    }

    #[test]
    fn without_a_layer_of_the_runner_the_usual_layer_is_asked() {
        for (hooks, expected) in [("exact", Layer::AsgctAsync), ("none", Layer::CallEdge)] {
            let turns = TurnOrder::of_samples(&config(hooks, &["gst"]));
            assert_eq!(
                [turns.next_layer(), turns.next_layer()],
                [Some(expected); 2]
            );
        }
        let here = |hooks, when| TurnOrder::here(&config(hooks, &[]), when).next_layer();
        assert_eq!(here("exact", When::Check), Some(Layer::AsgctSafepoint));
        assert_eq!(here("exact", When::Event), None);
        assert_eq!(here("none", When::Check), None);
    }
}
