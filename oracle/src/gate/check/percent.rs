//! Shares for people.

/// A share from 0 to 1, in per cent.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 {
        "0 %".into()
    } else if percent >= 10.0 {
        format!("{percent:.0} %")
    } else if percent >= 1.0 {
        format!("{percent:.1} %")
    } else if percent >= 0.1 {
        format!("{percent:.2} %")
    } else {
        format!("{percent:.3} %")
    }
}
