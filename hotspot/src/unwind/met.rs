//! The branches that a simulation has met. A simulation that goes on at a branch in one way goes the other way when it
//! meets the branch for the second time, so loops end.

/// How many branches are remembered.
const MOST_BRANCHES: usize = 64;

/// Which way a simulation goes at a branch that it meets for the first time.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub(super) enum First {
    /// To the next instruction.
    Next,
    /// To the branch's target.
    Target,
}

impl First {
    /// Both, the usual way first: it passes the return poll.
    pub const BOTH: [First; 2] = [First::Next, First::Target];
}

/// The branches that were met.
pub(super) struct Met {
    first: First,
    branches: [usize; MOST_BRANCHES],
    count: usize,
}

impl Met {
    /// None was met yet.
    pub fn new(first: First) -> Met {
        Met {
            first,
            branches: [0; MOST_BRANCHES],
            count: 0,
        }
    }

    /// Whether the simulation takes the branch at `pc`, which it meets now.
    pub fn takes(&mut self, pc: usize) -> bool {
        self.again(pc) == (self.first == First::Next)
    }

    /// Whether the branch at `pc` was met an odd number of times before. A branch that is met when many others are
    /// remembered counts as new.
    fn again(&mut self, pc: usize) -> bool {
        let known = self.branches[..self.count]
            .iter()
            .position(|&known| known == pc);
        if let Some(at) = known {
            self.count -= 1;
            self.branches.swap(at, self.count);
            return true;
        }
        if let Some(free) = self.branches.get_mut(self.count) {
            *free = pc;
            self.count += 1;
        }
        false
    }
}
