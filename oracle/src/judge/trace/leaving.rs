//! Trace stacks on which constructors may have ended.

use crate::trace::{Frame, HookId, Leaving, Methods, Presence, TraceSnapshot};
use std::collections::BTreeSet;

/// A truth without frames that may have ended.
#[derive(Clone)]
pub(super) struct Rest<'a> {
    entries: Vec<HookId>,
    checked: &'a [Frame],
    checked_entries: usize,
}

impl Rest<'_> {
    /// The truth in the form that judges take. Each of its entries belongs to an active frame.
    pub(super) fn truth(&self) -> TraceSnapshot<'_> {
        TraceSnapshot {
            entries: &self.entries,
            checked: self.checked,
            checked_entries: self.checked_entries,
            leaving: &[],
        }
    }
}

/// The truths that `truth` can stand for, if any number of the frames that may have ended (see
/// [`crate::trace::Leaving`]) have ended.
pub(super) fn without_leaving<'a>(
    truth: &TraceSnapshot<'a>,
    methods: &impl Methods,
) -> Vec<Rest<'a>> {
    let whole = Rest {
        entries: truth.entries.to_vec(),
        checked: truth.checked,
        checked_entries: truth.checked_entries,
    };
    let without = |ended: &BTreeSet<usize>| {
        let mut rest = whole.clone();
        // Newest first, so that the indices of lower entries stay valid.
        for &entry in ended.iter().rev() {
            remove(&mut rest, entry, methods);
        }
        rest
    };
    ended(truth.leaving).iter().map(without).collect()
}

/// The sets of entries that may have ended, but for the empty set. Runs of constructors may share entries:
/// a marked constructor may have been called by another that is marked.
fn ended(leaving: &[Leaving]) -> Vec<BTreeSet<usize>> {
    let mut sets = vec![BTreeSet::new()];
    for run in leaving {
        for at in 0..sets.len() {
            let mut set = sets[at].clone();
            for newest in (run.upto - run.count..run.upto).rev() {
                set.insert(newest);
                if !sets.contains(&set) {
                    sets.push(set.clone());
                }
            }
        }
    }
    sets.split_off(1)
}

fn remove(rest: &mut Rest<'_>, entry: usize, methods: &impl Methods) {
    rest.entries.remove(entry);
    if entry >= rest.checked_entries {
        return;
    }
    // The entry belongs to the newest checked frame, and all frames below had called another
    // method.
    let below = rest
        .checked
        .split_last()
        .map_or(&[][..], |(_, below)| below);
    let newest = below.iter().rposition(|frame| has_entry(frame, methods));
    rest.checked = newest.map_or(&[], |newest| &below[..=newest]);
    rest.checked_entries = newest.map_or(0, |_| entry);
}

/// Whether a frame that has called a method that is no hook has an entry.
fn has_entry(frame: &Frame, methods: &impl Methods) -> bool {
    let found = methods.hook(frame.method, frame.location);
    found.is_some_and(|(_, presence)| !matches!(presence, Presence::Absent | Presence::Pushing))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(leaving: &[(usize, usize)]) -> Vec<Vec<usize>> {
        let run = |&(upto, count): &(usize, usize)| Leaving { upto, count };
        let leaving: Vec<_> = leaving.iter().map(run).collect();
        let found = ended(&leaving).into_iter();
        let mut found: Vec<Vec<usize>> = found.map(|set| set.into_iter().collect()).collect();
        found.sort();
        found
    }

    #[test]
    fn the_newest_of_each_run_end_first() {
        assert_eq!(sets(&[]), Vec::<Vec<usize>>::new());
        assert_eq!(sets(&[(3, 2)]), [vec![1, 2], vec![2]]);
        assert_eq!(sets(&[(1, 1), (3, 1)]), [vec![0], vec![0, 2], vec![2]]);
    }

    #[test]
    fn runs_may_share_constructors() {
        // The lower run ends with entry 1, the upper run goes down to entry 1.
        let expected = [vec![1], vec![1, 2, 3], vec![1, 3], vec![2, 3], vec![3]];
        assert_eq!(sets(&[(2, 1), (4, 3)]), expected);
    }
}
