//! Sets of BCIs.

/// A set of BCIs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bcis(Box<[u64]>);

impl Bcis {
    pub(super) fn up_to(length: usize) -> Bcis {
        Bcis(vec![0; length.div_ceil(64)].into())
    }

    pub(super) fn insert(&mut self, bci: u32) {
        self.0[bci as usize / 64] |= 1 << (bci % 64);
    }

    /// Whether `bci` is in the set.
    pub fn contains(&self, bci: u32) -> bool {
        let word = self.0.get(bci as usize / 64);
        word.is_some_and(|word| word >> (bci % 64) & 1 == 1)
    }
}

impl FromIterator<u32> for Bcis {
    /// The set of these BCIs, which are at most 65,535.
    fn from_iter<T: IntoIterator<Item = u32>>(bcis: T) -> Bcis {
        let bcis: Vec<u32> = bcis.into_iter().collect();
        let length = bcis.iter().max().map_or(0, |&last| last as usize + 1);
        let mut all = Bcis::up_to(length);
        for bci in bcis {
            all.insert(bci);
        }
        all
    }
}
