//! The positions of the catch-alls.

use super::covered::Covered;

/// The positions of the catch-alls: one for code that runs before the initialisation of `this`, one
/// for all other code. A catch-all that would cover nothing is absent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CatchAlls {
    uninitialized: Option<u32>,
    initialized: Option<u32>,
    /// The end of the last catch-all.
    pub(crate) end: u32,
}

impl CatchAlls {
    /// The catch-alls for code that ends at `end`, each `length` bytes long.
    pub(crate) fn behind(end: u32, covered: &[Covered], length: u32) -> Self {
        let mut end = end;
        let mut place = |uninitialized| {
            let used = covered.iter().any(|c| c.uninitialized == uninitialized);
            used.then(|| {
                end += length;
                end - length
            })
        };
        Self {
            uninitialized: place(true),
            initialized: place(false),
            end,
        }
    }

    /// The catch-all for such code. It exists if a range of such code was covered.
    pub(crate) fn of(&self, covered: Covered) -> u32 {
        let at = if covered.uninitialized {
            self.uninitialized
        } else {
            self.initialized
        };
        at.unwrap_or(self.end)
    }

    /// Each catch-all, in order, and whether `this` is not initialised there.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, bool)> {
        let uninitialized = self.uninitialized.map(|at| (at, true));
        let initialized = self.initialized.map(|at| (at, false));
        uninitialized.into_iter().chain(initialized)
    }
}
