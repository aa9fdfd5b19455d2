//! Numbers for people.

/// A rate, or that there is none.
pub(crate) fn rate(rate: Option<f64>) -> String {
    match rate {
        None => "no data".into(),
        Some(0.0) => "0".into(),
        Some(rate) => format!("{rate:.2e}"),
    }
}
