//! What a simulation has written to memory.

/// The newest words that the simulation wrote. Stubs save all registers.
pub(super) struct Overlay {
    addresses: [usize; KEPT],
    /// 0 where the word is not known.
    values: [usize; KEPT],
    /// A bit for each word.
    known: u64,
    count: usize,
}

/// How many words are kept.
const KEPT: usize = u64::BITS as usize;

impl Default for Overlay {
    fn default() -> Overlay {
        Overlay {
            addresses: [0; KEPT],
            values: [0; KEPT],
            known: 0,
            count: 0,
        }
    }
}

impl Overlay {
    /// Keeps that `value` was written to `address`; `None` if it is not known.
    pub fn store(&mut self, address: usize, value: Option<usize>) {
        let at = self.count % KEPT;
        self.addresses[at] = address;
        self.values[at] = value.unwrap_or(0);
        self.known = self.known & !(1 << at) | u64::from(value.is_some()) << at;
        self.count += 1;
    }

    /// The value that was written to `address`, if any was written.
    pub fn load(&self, address: usize) -> Option<Option<usize>> {
        let kept = self.count.min(KEPT);
        let mut newest = (0..kept).map(|back| (self.count - 1 - back) % KEPT);
        let at = newest.find(|&at| self.addresses[at] == address)?;
        Some((self.known >> at & 1 == 1).then_some(self.values[at]))
    }
}
