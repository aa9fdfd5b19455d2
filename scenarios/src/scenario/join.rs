//! One scenario from several.

use super::model::Scenario;
use crate::text::sha256;

impl Scenario {
    /// One scenario from several scenarios: all their programs, and the tightest budget of each
    /// layer.
    pub fn join(scenarios: Vec<Scenario>) -> Scenario {
        let mut all = scenarios.into_iter();
        let first = all.next().expect("there is at least one scenario");
        all.fold(first, |mut sum, next| {
            sum.name = format!("{}+{}", sum.name, next.name);
            sum.budget.tighten(next.budget);
            sum.imprecise_budget.tighten(next.imprecise_budget);
            sum.statement_budget.tighten(next.statement_budget);
            sum.required.extend(next.required);
            sum.required.sort();
            sum.required.dedup();
            sum.programs.extend(next.programs);
            sum.check_only.extend(next.check_only);
            sum.sha256 = sum.sha256.zip(next.sha256).map(|(a, b)| sha256(&(a + &b)));
            sum.time_budget = sum.time_budget.zip(next.time_budget).map(|(a, b)| a + b);
            sum
        })
    }
}
