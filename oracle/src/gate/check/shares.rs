//! How the probability of a false alarm is divided among the cells that are tested.

/// The first cells have equal shares.
const EQUAL: u32 = 64;

/// The share of the cell that was found after `rank` others, of what all cells of its group have. All shares
/// together are at most 1, however many cells are found. So the probability that any of them gives a false
/// alarm is at most that of the group, however the cells depend on each other (Bonferroni).
pub(super) fn share(rank: usize) -> f64 {
    let rank = u32::try_from(rank).unwrap_or(u32::MAX);
    if rank < EQUAL {
        return 0.5 / f64::from(EQUAL);
    }
    // 1 / (1 * 2) + 1 / (2 * 3) + ... = 1
    let later = f64::from(rank - EQUAL) + 1.0;
    0.5 / (later * (later + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_never_exceed_the_whole() {
        let sum: f64 = (0..1_000_000).map(share).sum();
        assert!(sum <= 1.0 && sum > 0.99, "{sum}");
    }
}
