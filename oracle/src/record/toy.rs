//! Reports for tests.

use super::report::{Report, Run, SCHEMA, sum_layers};

/// The complete report of these runs, without mismatches, budgets and requirements.
pub fn report(runs: Vec<Run>) -> Report {
    Report {
        schema: SCHEMA,
        scenario: "test".into(),
        jdk: Default::default(),
        complete: true,
        layers: sum_layers(&runs),
        runs,
        mismatches: vec![],
        budget: Default::default(),
        imprecise_budget: Default::default(),
        statement_budget: Default::default(),
        required: vec![],
        planned: 0,
        skipped: vec![],
        origins: vec![],
    }
}
