//! Kinds of mismatches, as a report counts them.

use crate::record::{CauseName, KindCount, Mismatch};
use crate::report::{Report, Run};

/// The kinds of a run's mismatches. A report of an earlier version has only those that were written
/// down.
pub(super) fn of_run(report: &Report, run: &Run) -> Vec<KindCount> {
    if !run.kinds.is_empty() {
        return shared_out(&run.kinds);
    }
    let dir = Some(&run.dir);
    let of_run = report
        .mismatches
        .iter()
        .filter(|m| m.evidence.run.as_ref() == dir);
    of_run.map(of_one).collect()
}

/// The kinds, where mismatches that nobody had time to look at have the causes of those that were looked at, in their shares:
/// of the same layer, verdict and place. How many are looked at depends on the machine, and a cause that a busier machine
/// gives no name would be new on a faster one. Where none was looked at, the cause stays unknown.
fn shared_out(kinds: &[KindCount]) -> Vec<KindCount> {
    let is_unknown = |kind: &KindCount| {
        let cause = kind.cause.as_ref().map(CauseName::as_str);
        cause == Some(CauseName::NOT_LOOKED_AT)
    };
    let (unknown, mut known): (Vec<KindCount>, Vec<KindCount>) =
        kinds.iter().cloned().partition(is_unknown);
    for rest in unknown {
        let is_like = |kind: &&mut KindCount| {
            (kind.layer, kind.verdict) == (rest.layer, rest.verdict)
                && kind.place == rest.place
                && !is_unknown(kind)
        };
        let mut like: Vec<&mut KindCount> = known.iter_mut().filter(is_like).collect();
        like.sort_by_key(|kind| kind.count);
        let looked_at: u64 = like.iter().map(|kind| kind.count).sum();
        let Some((most, others)) = like.split_last_mut().filter(|_| looked_at > 0) else {
            known.push(rest);
            continue;
        };
        let mut left = rest.count;
        for kind in others {
            let share = u128::from(rest.count) * u128::from(kind.count) / u128::from(looked_at);
            let share = u64::try_from(share).unwrap_or(left).min(left);
            kind.count += share;
            left -= share;
        }
        most.count += left;
    }
    known
}

/// The kind of a mismatch that was written down.
pub(super) fn of_one(mismatch: &Mismatch) -> KindCount {
    let frame = mismatch.first_differing();
    let method = frame.map_or("", |frame| frame.method.as_str());
    KindCount {
        layer: mismatch.layer,
        verdict: mismatch.verdict,
        cause: mismatch.cause.clone(),
        place: method.split('(').next().unwrap_or_default().into(),
        count: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layer, Verdict};
    use proptest::prelude::*;

    fn kind(cause: &str, place: &str, count: u64) -> KindCount {
        KindCount {
            layer: Layer::CallEdge,
            verdict: Verdict::Truncated,
            cause: Some(CauseName::new(cause.to_owned())),
            place: place.into(),
            count,
        }
    }

    #[test]
    fn what_was_not_looked_at_has_the_causes_of_its_place() {
        let unknown = CauseName::NOT_LOOKED_AT;
        let kinds = [
            kind("upcall-stub", "here", 30),
            kind("leaf-call", "here", 10),
            kind(unknown, "here", 8),
            kind("leaf-call", "there", 5),
            kind(unknown, "elsewhere", 3),
        ];
        let expected = [
            kind("upcall-stub", "here", 36),
            kind("leaf-call", "here", 12),
            kind("leaf-call", "there", 5),
            kind(unknown, "elsewhere", 3),
        ];
        assert_eq!(shared_out(&kinds), expected);
    }

    proptest! {
        #[test]
        fn none_is_lost(counts in prop::collection::vec((0usize..4, 0usize..3, 0u64..1000), 0..12)) {
            const CAUSES: [&str; 4] = ["a", "b", CauseName::UNEXPLAINED, CauseName::NOT_LOOKED_AT];
            let kinds: Vec<KindCount> = counts
                .iter()
                .map(|&(cause, place, n)| kind(CAUSES[cause], &place.to_string(), n))
                .collect();
            let sum = |kinds: &[KindCount]| kinds.iter().map(|kind| kind.count).sum::<u64>();
            prop_assert_eq!(sum(&shared_out(&kinds)), sum(&kinds));
        }
    }
}
