//! What a sampler says of its own samples, or does not say, and how often it may do so.

use super::joined::JoinCounts;
use crate::Layer;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What a sampler of the JVM says of one of its samples. Whoever says so is not wrong, but the sample is worth less.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statement {
    /// The stack may be that of a later safepoint.
    Biased,
    /// The stack was cut at the largest depth of a recording.
    Truncated,
    /// The walk failed.
    Failed,
    /// The sample was lost: it is in no event.
    Lost,
    /// Nothing: the sampler was asked for a sample, which is in no event, and which it does not call lost.
    Unanswered,
}

impl Statement {
    /// All statements.
    pub const ALL: [Statement; 5] = [
        Statement::Biased,
        Statement::Truncated,
        Statement::Failed,
        Statement::Lost,
        Statement::Unanswered,
    ];

    /// Its name in scenarios and reports.
    pub fn name(self) -> &'static str {
        match self {
            Statement::Biased => "biased",
            Statement::Truncated => "truncated",
            Statement::Failed => "failed",
            Statement::Lost => "lost",
            Statement::Unanswered => "unanswered",
        }
    }

    /// Whether only a stack can be so.
    pub fn is_of_stacks(self) -> bool {
        matches!(self, Statement::Biased | Statement::Truncated)
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl JoinCounts {
    /// The sampler's samples: those with an event, and those that the sampler says it lost.
    pub fn samples(&self) -> u64 {
        self.events + self.lost
    }

    /// The samples of which the sampler says this.
    pub fn stated(&self, statement: Statement) -> u64 {
        match statement {
            Statement::Biased => self.biased.values().sum(),
            Statement::Truncated => self.truncated,
            Statement::Failed => self.failed,
            Statement::Lost => self.lost,
            Statement::Unanswered => {
                let silent = self.requests.saturating_sub(self.answered);
                silent.saturating_sub(self.lost)
            }
        }
    }

    /// The samples that have a stack.
    pub fn stacks(&self) -> u64 {
        self.events.saturating_sub(self.failed)
    }

    /// The samples of which the sampler could say this.
    pub fn could_state(&self, statement: Statement) -> u64 {
        match statement {
            Statement::Biased | Statement::Truncated => self.stacks(),
            Statement::Failed => self.events,
            Statement::Lost => self.samples(),
            Statement::Unanswered => self.requests,
        }
    }
}

/// Of how many of its samples, from 0 to 1, the sampler of a layer may say something. What is not named has no limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StatementBudget(pub BTreeMap<Layer, BTreeMap<Statement, f64>>);

impl StatementBudget {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The limits.
    pub fn limits(&self) -> impl Iterator<Item = (Layer, Statement, f64)> {
        let of_layer = |(&layer, limits): (&Layer, &BTreeMap<Statement, f64>)| {
            let limits: Vec<_> = limits
                .iter()
                .map(|(&of, &limit)| (layer, of, limit))
                .collect();
            limits
        };
        self.0.iter().flat_map(of_layer)
    }

    /// Takes the lower limit where `other` has one too.
    pub fn tighten(&mut self, other: StatementBudget) {
        for (layer, statement, limit) in other.limits() {
            let limits = self.0.entry(layer).or_default();
            let old = limits.entry(statement).or_insert(limit);
            *old = old.min(limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_statement_is_a_share_of_the_samples_of_which_it_can_be_made() {
        let joined = JoinCounts {
            requests: 100,
            answered: 60,
            events: 62,
            failed: 12,
            lost: 15,
            truncated: 5,
            biased: BTreeMap::from([("match".into(), 30), ("window".into(), 20)]),
            ..JoinCounts::new(Layer::JfrCpu)
        };
        let share = |statement| (joined.stated(statement), joined.could_state(statement));
        assert_eq!(
            Statement::ALL.map(share),
            [(50, 50), (5, 50), (12, 62), (15, 77), (25, 100)]
        );
    }

    #[test]
    fn what_the_sampler_says_it_lost_is_answered() {
        let joined = JoinCounts {
            requests: 10,
            answered: 7,
            lost: 9,
            ..JoinCounts::new(Layer::JfrCpu)
        };
        assert_eq!(joined.stated(Statement::Unanswered), 0);
    }
}
