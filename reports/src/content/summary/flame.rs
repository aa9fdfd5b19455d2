//! True and claimed stacks of one profile, as one flame graph.

use crate::content::bias::flames;
use crate::content::names;
use crate::model::TwoFlames;
use oracle::report::Report;

/// The profile with the most answers, and its title.
pub(super) fn flame(report: &Report) -> Option<(String, TwoFlames)> {
    let runs = report.runs.iter();
    let all = runs.flat_map(|run| {
        run.bias_stacks
            .iter()
            .map(move |(of, stacks)| (run, of, stacks))
    });
    // Programs other than our fixtures say more: their stacks are those of a real program.
    let key = |of: &oracle::bias::StackProfiles| of.answered;
    let (run, sampler, stacks) = all
        .filter(|(.., stacks)| stacks.answered > 0)
        .max_by_key(|(run, _, stacks)| (!run.scenario.contains("fixtures"), key(stacks)))?;
    let title = format!("{} of {}", names::of_sampler(run, *sampler), run.title());
    Some((title, flames(0, stacks)))
}
