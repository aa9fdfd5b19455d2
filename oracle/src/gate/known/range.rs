//! Ranges of feature releases.

/// The feature release of a JDK with this version.
pub(in crate::gate) fn feature(version: &str) -> Option<u32> {
    let end = version
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(version.len());
    version[..end].parse().ok()
}

/// Whether a text is a range: `17`, `17-21` or `21-`.
pub(super) fn is_range(text: &str) -> bool {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    low.parse::<u32>().is_ok() && (high.is_empty() || high.parse::<u32>().is_ok())
}

/// Whether a feature release lies in a range; a release that is not known lies in none.
pub(super) fn within(range: &str, feature: Option<u32>) -> bool {
    let Some(feature) = feature else {
        return false;
    };
    let (low, high) = range.split_once('-').unwrap_or((range, range));
    low.parse().is_ok_and(|low: u32| feature >= low)
        && high
            .parse()
            .map_or(high.is_empty(), |high: u32| feature <= high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        for (range, feature, expected) in [
            ("17", 17, true),
            ("17", 18, false),
            ("17-21", 21, true),
            ("17-21", 22, false),
            ("21-", 25, true),
            ("21-", 17, false),
        ] {
            assert!(is_range(range));
            assert_eq!(within(range, Some(feature)), expected, "{range} {feature}");
        }
        assert!(!within("17-", None));
        for text in ["", "-", "-21", "17-21-25", "old"] {
            assert!(!is_range(text), "{text}");
        }
        assert_eq!(feature("17.0.15+6-Debian"), Some(17));
        assert_eq!(feature("26-internal"), Some(26));
    }
}
