//! Short turns of programs.

use super::model::{Program, Start};
use oracle::random::mix;

/// How long the fixtures of a turn run, in seconds. The start of the JVM comes on top, so shorter turns are mostly
/// starts; with longer turns there are fewer pairs.
const TURN: f64 = 3.0;

impl Program {
    /// A turn of the program: some of its fixtures, each as long as in the whole program. Which ones depends on the
    /// seed. Programs of other kinds run whole.
    pub fn turn(&self, seed: u64) -> Program {
        let Start::Fixtures { names, seconds } = &self.start else {
            return self.clone();
        };
        let mut names: Vec<String> = if names.is_empty() {
            java_fixtures::FIXTURE_NAMES
                .iter()
                .map(|&name| name.into())
                .collect()
        } else {
            names.clone()
        };
        let each = seconds / names.len() as f64;
        let several = ((TURN / each).round() as usize).clamp(1, names.len());
        // The first ones of a random order.
        for at in 0..several {
            let left = (names.len() - at) as u64;
            let other = at + (mix(seed ^ (at as u64) << 32) % left) as usize;
            names.swap(at, other);
        }
        names.truncate(several);
        Program {
            start: Start::Fixtures {
                seconds: each * names.len() as f64,
                names,
            },
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use std::collections::BTreeSet;

    #[test]
    fn turns_share_out_a_program() {
        let scenario = Scenario::load("test", &[]).unwrap();
        let tiered = &scenario.programs[0];
        let mut seen = BTreeSet::new();
        for seed in 0..200 {
            let turn = tiered.turn(seed);
            assert_eq!(turn, tiered.turn(seed), "both builds have the same turn");
            let Start::Fixtures { names, seconds } = turn.start else {
                panic!("{:?}", turn.start)
            };
            assert!((1.0..=4.0).contains(&seconds), "{seconds}");
            let distinct: BTreeSet<_> = names.iter().collect();
            assert_eq!(distinct.len(), names.len());
            seen.extend(names);
        }
        assert_eq!(seen.len(), java_fixtures::FIXTURE_NAMES.len());
    }
}
