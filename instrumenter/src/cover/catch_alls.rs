//! Where the catch-alls stand.

use super::covered::Covered;

/// Where the catch-alls stand: one for code that runs before the initialisation of `this`, one for
/// all other code, as far as there is such code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CatchAlls {
    uninitialized: Option<u32>,
    initialized: Option<u32>,
    /// Where the last one ends.
    pub(crate) end: u32,
}

impl CatchAlls {
    /// Behind code that ends at `end`, each `length` bytes long.
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

    /// The one that covers such code. There is one for every range that it was made with.
    pub(crate) fn of(&self, covered: Covered) -> u32 {
        let at = if covered.uninitialized {
            self.uninitialized
        } else {
            self.initialized
        };
        at.unwrap_or(self.end)
    }

    /// Each, in order, and whether `this` is not initialised there.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, bool)> {
        let uninitialized = self.uninitialized.map(|at| (at, true));
        let initialized = self.initialized.map(|at| (at, false));
        uninitialized.into_iter().chain(initialized)
    }
}
