//! Many tests at once.

/// Which of these p-values are significant, if the probability of even one false alarm among them all
/// is to be at most `alpha` (Holm, A simple sequentially rejective multiple test procedure,
/// Scandinavian Journal of Statistics 6, 1979). It holds however the tests depend on each other.
pub(crate) fn significant(p: &[f64], alpha: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut significant = vec![false; p.len()];
    for (rank, &index) in order.iter().enumerate() {
        if p[index] > alpha / (p.len() - rank) as f64 {
            break;
        }
        significant[index] = true;
    }
    significant
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_smallest_faces_the_strictest_limit() {
        let p = [0.04, 0.001, 0.012, 0.5];
        assert_eq!(significant(&p, 0.05), [false, true, true, false]);
        assert_eq!(significant(&[], 0.05), Vec::<bool>::new());
    }

    proptest! {
        #[test]
        fn between_bonferroni_and_no_correction(
            p in prop::collection::vec(0.0f64..0.1, 1..40), alpha in 0.001f64..0.1,
        ) {
            for (p_i, is) in p.iter().zip(significant(&p, alpha)) {
                prop_assert!(is || *p_i > alpha / p.len() as f64);
                prop_assert!(!is || *p_i <= alpha);
            }
        }
    }
}
