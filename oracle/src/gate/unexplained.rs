//! False stacks that no known defect of a walker explains. Honest JVMs have next to none ([`LayerRow::unexplained`]), so they
//! show a mistake that is too rare for any other budget.
//!
//! [`LayerRow::unexplained`]: crate::LayerRow::unexplained

use super::kinds;
use crate::Layer;
use crate::probability::binomial;
use crate::report::Report;

/// The highest rate that the report allows in the layer; `None` if it cannot be judged.
pub(super) fn limit(report: &Report, layer: Layer) -> Option<f64> {
    // Where a cause cannot be proven, its stacks have none. A budget of 1 is for what is shown, and not judged.
    let all_causes = report.lost().iter().all(|lost| lost.causes.is_empty());
    let is_judged = all_causes && report.budget.limit(layer) < 1.0;
    layer.row().unexplained.filter(|_| is_judged)
}

/// Whether so many stacks among the decided checks are over `limit`. In `error` of all honest reports whose rate is the limit
/// the answer is wrong.
pub(super) fn is_over(stacks: u64, decided: u64, limit: f64, error: f64) -> bool {
    *binomial::rate(stacks, decided, 2.0 * error).start() > limit
}

/// The layers in which the new build has more than the limit, and certainly more than the base, and how many.
pub(super) fn new_only(new: &Report, base: &Report) -> Vec<(Layer, u64)> {
    /// The answer is asked for after each pair, in five layers.
    const ERROR: f64 = 1e-6;
    let is_new = |layer: Layer| {
        let limit = limit(new, layer)?;
        self::limit(base, layer)?;
        let ((stacks, decided), of_base) = (counts(new, layer), counts(base, layer));
        let is_worse = is_over(stacks, decided, limit, ERROR)
            && binomial::same_rate((stacks, decided), of_base) < ERROR;
        is_worse.then_some((layer, stacks))
    };
    Layer::ALL.into_iter().filter_map(is_new).collect()
}

/// How many stacks of the layer are so, of how many decided checks.
fn counts(report: &Report, layer: Layer) -> (u64, u64) {
    let kinds = report
        .runs
        .iter()
        .flat_map(|run| kinds::of_run(report, run));
    let kinds = kinds.filter(|kind| kind.layer == layer && kind.is_unexplained());
    let layers = report.runs.iter().flat_map(|run| &run.layers);
    let layers = layers.filter(|counts| counts.layer == layer);
    let decided = layers.map(|counts| counts.tally().decided());
    (kinds.map(|kind| kind.count).sum(), decided.sum())
}
