//! How the probability of a false alarm is divided among the cells that are tested.

/// The share of the cell that was found after `rank` others, of what all cells of its group have: about the same for the first
/// `usual` cells, and never much less for those that come later.
///
/// All shares together are 1, however many cells are found: u / (u (u + 1)) + u / ((u + 1) (u + 2)) + ... = u (1/u - 1/(u + 1) +
/// 1/(u + 1) - ...) = 1. So the probability that any of them gives a false alarm is at most that of the group, however the
/// cells depend on each other (Bonferroni).
pub(super) fn share(rank: usize, usual: u32) -> f64 {
    let usual = f64::from(usual);
    let from = rank as f64 + usual;
    usual / (from * (from + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_never_exceed_the_whole() {
        for usual in [4, 128, 512] {
            let sum: f64 = (0..1_000_000).map(|rank| share(rank, usual)).sum();
            assert!(sum <= 1.0 && sum > 0.99, "{sum}");
            let (first, last) = (share(0, usual), share(usual as usize, usual));
            assert!(first / last < 4.1, "{first} {last}");
        }
    }
}
