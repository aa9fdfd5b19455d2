//! The branches that a simulation has met. A branch is taken when the simulation meets it for the second time, so
//! loops end.

/// How many branches are remembered.
const MOST_BRANCHES: usize = 64;

/// The branches that were met.
pub(super) struct Met {
    branches: [usize; MOST_BRANCHES],
    count: usize,
}

impl Default for Met {
    fn default() -> Met {
        Met {
            branches: [0; MOST_BRANCHES],
            count: 0,
        }
    }
}

impl Met {
    /// Whether the branch at `pc` was met an odd number of times before. A branch that is met when many others are
    /// remembered counts as new.
    pub fn again(&mut self, pc: usize) -> bool {
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
