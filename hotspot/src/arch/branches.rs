//! The branches that a simulation has met. A simulation that has gone one way at a branch goes the other way when it meets
//! the branch again, so loops end.

use super::Settled;

/// How many branches are remembered.
const MOST_BRANCHES: usize = u64::BITS as usize;

/// Which of the first branches a simulation takes when it meets them first: bit by bit. It takes no others.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub(super) struct BranchChoices(u8);

/// The result of the first way on which `follow` has one. There are `branches` branches at which ways differ.
pub(super) fn with_each_choice<T>(
    branches: u8,
    mut follow: impl FnMut(&mut BranchHistory) -> Option<T>,
) -> Option<T> {
    const MOST_WAYS: usize = 16;
    // How many branches each way has met.
    let mut met_on = [0; MOST_WAYS];
    for way in BranchChoices::at_first(branches).take(MOST_WAYS) {
        // Up to the last branch that it takes, the way is one that was tried before.
        let before = way.0.checked_ilog2().map(|last| {
            let firsts = met_on[usize::from(way.0 & !(1 << last))];
            (last as usize, firsts)
        });
        met_on[usize::from(way.0)] = match before {
            Some((last, firsts)) if firsts <= last => firsts,
            _ => {
                let mut met = BranchHistory::new(way);
                let found = follow(&mut met);
                if found.is_some() {
                    return found;
                }
                met.firsts
            }
        };
    }
    None
}

/// Where the first way leads on which `follow` settles. The first two branches differ.
pub(super) fn settle_on_first_ways(
    mut follow: impl FnMut(&mut BranchHistory) -> Option<Settled>,
) -> Option<Settled> {
    let mut is_first = true;
    let mut found = with_each_choice(2, |met| {
        let found = follow(met);
        is_first &= found.is_some();
        found
    });
    // Why the first way led nowhere may be in the registers.
    if let Some(Settled::Body { is_relative, .. } | Settled::Return { is_relative, .. }) =
        &mut found
    {
        *is_relative &= is_first;
    }
    found
}

impl BranchChoices {
    /// The ways that differ at the first `branches`, in the order in which they are tried. The first takes no branch: it
    /// passes most return polls. The return poll of native wrappers branches to the return.
    pub fn at_first(branches: u8) -> impl Iterator<Item = BranchChoices> {
        (0..1 << branches).map(BranchChoices)
    }

    fn takes(self, number: usize) -> bool {
        number < 8 && self.0 >> number & 1 == 1
    }
}

/// The branches that were met.
pub(super) struct BranchHistory {
    way: BranchChoices,
    /// How many branches were met first.
    firsts: usize,
    /// The branches that were met an odd number of times.
    branches: [usize; MOST_BRANCHES],
    /// A bit for each: whether it was taken.
    taken: u64,
    count: usize,
}

impl BranchHistory {
    /// None was met yet.
    pub fn new(way: BranchChoices) -> BranchHistory {
        BranchHistory {
            way,
            firsts: 0,
            branches: [0; MOST_BRANCHES],
            taken: 0,
            count: 0,
        }
    }

    /// Whether the simulation takes the branch at `pc`, which it meets now. A branch that is met when many others are
    /// remembered counts as new.
    pub fn takes(&mut self, pc: usize) -> bool {
        let mut known = self.branches[..self.count].iter();
        if let Some(at) = known.position(|&known| known == pc) {
            let taken = self.taken >> at & 1;
            self.count -= 1;
            self.branches[at] = self.branches[self.count];
            self.taken = self.taken & !(1 << at) | (self.taken >> self.count & 1) << at;
            return taken == 0;
        }
        let takes = self.way.takes(self.firsts);
        self.firsts += 1;
        if let Some(free) = self.branches.get_mut(self.count) {
            *free = pc;
            self.taken = self.taken & !(1 << self.count) | u64::from(takes) << self.count;
            self.count += 1;
        }
        takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ways_that_differ_are_followed() {
        // So many branches are there on each way.
        let followed = |branches: usize| {
            let mut ways = Vec::new();
            let found = with_each_choice(3, |met| {
                ways.push(met.way.0);
                (1..=branches).for_each(|pc| _ = met.takes(pc));
                None::<()>
            });
            assert_eq!(found, None);
            ways
        };
        assert_eq!(followed(0), [0]);
        assert_eq!(followed(1), [0, 1]);
        assert_eq!(followed(2), [0, 1, 2, 3]);
        assert_eq!(followed(9), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(
            with_each_choice(2, |met| met.takes(1).then_some(met.firsts)),
            Some(1)
        );
    }

    #[test]
    fn each_way_goes_on_differently_and_turns_when_it_meets_a_branch_again() {
        let took = |way| {
            let mut met = BranchHistory::new(way);
            [10, 20, 30, 10, 20, 30].map(|pc| met.takes(pc))
        };
        let all: Vec<_> = BranchChoices::at_first(2).map(took).collect();
        assert_eq!(all[0], [false, false, false, true, true, true]);
        assert_eq!(all[1], [true, false, false, false, true, true]);
        assert_eq!(all[2], [false, true, false, true, false, true]);
        assert_eq!(all[3], [true, true, false, false, false, true]);
    }
}
