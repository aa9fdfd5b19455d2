//! Short turns of programs.

use super::model::{Program, Start};
use oracle::random::mix;
use std::ops::RangeInclusive;

/// How long the fixtures of a turn run at least and at most, in seconds. The start of the JVM comes on top, so shorter turns are
/// mostly starts; with longer turns there are fewer pairs.
const TURN: RangeInclusive<f64> = 3.0..=9.0;

/// How long the fixtures of the next turn run, in seconds, if all else of the turns so far, such as the start of the JVM, took so
/// long: as long as that in most turns. A busy machine takes longer for a start, and has fewer checks in a second.
pub fn turn_length(all_else: &[f64]) -> f64 {
    let mut sorted = all_else.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied();
    median.unwrap_or(0.0).clamp(*TURN.start(), *TURN.end())
}

impl Program {
    /// How long the fixtures of the program run, in seconds; `None` for programs of other kinds.
    pub fn fixture_seconds(&self) -> Option<f64> {
        match self.start {
            Start::Fixtures { seconds, .. } => Some(seconds),
            _ => None,
        }
    }

    /// The program, so many times as long, if it runs for a known time.
    pub fn lasting(&self, times: f64) -> Program {
        let mut program = self.clone();
        if let Start::Fixtures { seconds, .. } | Start::Javac { seconds } = &mut program.start {
            *seconds *= times;
        }
        program
    }

    /// A turn of the program of about this length: some of its fixtures, each as long as in the whole program. Which ones depends
    /// on the seed. Programs of other kinds run whole.
    pub fn turn(&self, seed: u64, length: f64) -> Program {
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
        // Steps take their own time, however busy the machine is.
        let length = if self.sampling.steps {
            *TURN.start()
        } else {
            length
        };
        let several = ((length / each).round() as usize).clamp(1, names.len());
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
            let turn = tiered.turn(seed, 3.0);
            assert_eq!(
                turn,
                tiered.turn(seed, 3.0),
                "both builds have the same turn"
            );
            let Start::Fixtures { names, seconds } = turn.start else {
                panic!("{:?}", turn.start)
            };
            assert!((1.0..=4.0).contains(&seconds), "{seconds}");
            let distinct: BTreeSet<_> = names.iter().collect();
            assert_eq!(distinct.len(), names.len());
            seen.extend(names);
            let longer = tiered.turn(seed, 6.0).fixture_seconds().unwrap();
            assert!((5.0..=7.0).contains(&longer), "{longer}");
        }
        assert_eq!(seen.len(), java_fixtures::FIXTURE_NAMES.len());
    }

    #[test]
    fn a_program_can_last_longer() {
        let scenario = Scenario::load("test", &[]).unwrap();
        for program in &scenario.programs {
            let [before, after] = [program, &program.lasting(2.0)].map(Program::fixture_seconds);
            assert_eq!(after, before.map(|seconds| 2.0 * seconds));
        }
    }

    #[test]
    fn a_turn_is_as_long_as_the_start_of_its_jvm() {
        assert_eq!(turn_length(&[]), 3.0);
        assert_eq!(turn_length(&[0.6, 1.0, 40.0]), 3.0);
        assert_eq!(turn_length(&[5.0, 5.5, 40.0]), 5.5);
        assert_eq!(turn_length(&[30.0, 5.5, 40.0]), 9.0);
    }
}
