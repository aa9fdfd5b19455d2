//! The branches that a simulation has met. A simulation that has gone one way at a branch goes the other way when it meets
//! the branch again, so loops end.

/// How many branches are remembered.
const MOST_BRANCHES: usize = 64;

/// Which of the first branches a simulation takes when it meets them first: bit by bit. It takes no others.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub(super) struct Way(u8);

impl Way {
    /// The ways that differ at the first `branches`, in the order in which they are tried. The first takes no branch: it
    /// passes most return polls. The return poll of native wrappers branches to the return.
    pub fn at_first(branches: u8) -> impl Iterator<Item = Way> {
        (0..1 << branches).map(Way)
    }

    fn takes(self, number: usize) -> bool {
        number < 8 && self.0 >> number & 1 == 1
    }
}

/// The branches that were met.
pub(super) struct Met {
    way: Way,
    /// How many branches were met first.
    firsts: usize,
    /// The branches that were met an odd number of times, and whether they were taken.
    branches: [(usize, bool); MOST_BRANCHES],
    count: usize,
}

impl Met {
    /// None was met yet.
    pub fn new(way: Way) -> Met {
        Met {
            way,
            firsts: 0,
            branches: [(0, false); MOST_BRANCHES],
            count: 0,
        }
    }

    /// Whether the simulation takes the branch at `pc`, which it meets now. A branch that is met when many others are
    /// remembered counts as new.
    pub fn takes(&mut self, pc: usize) -> bool {
        let mut known = self.branches[..self.count].iter();
        if let Some(at) = known.position(|&(known, _)| known == pc) {
            let (_, taken) = self.branches[at];
            self.count -= 1;
            self.branches.swap(at, self.count);
            return !taken;
        }
        let takes = self.way.takes(self.firsts);
        self.firsts += 1;
        if let Some(free) = self.branches.get_mut(self.count) {
            *free = (pc, takes);
            self.count += 1;
        }
        takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_goes_on_differently_and_turns_when_it_meets_a_branch_again() {
        let took = |way| {
            let mut met = Met::new(way);
            [10, 20, 30, 10, 20, 30].map(|pc| met.takes(pc))
        };
        let all: Vec<_> = Way::at_first(2).map(took).collect();
        assert_eq!(all[0], [false, false, false, true, true, true]);
        assert_eq!(all[1], [true, false, false, false, true, true]);
        assert_eq!(all[2], [false, true, false, true, false, true]);
        assert_eq!(all[3], [true, true, false, false, false, true]);
    }
}
