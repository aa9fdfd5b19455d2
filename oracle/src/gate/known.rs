//! Known issues: mismatches that the people behind a JDK know already.

use crate::Layer;
use serde::Deserialize;

/// Mismatches that are known already.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownIssues {
    /// The issues, in the order of their file.
    #[serde(default, rename = "issue")]
    pub issues: Vec<KnownIssue>,
}

/// A kind of mismatch that is known already.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownIssue {
    /// Its name, as `JDK-8301234`.
    pub id: String,
    /// The JDKs that show it: `17`, `17-21`, `21-`; absent: all.
    pub jdk: Option<String>,
    /// The processor architecture, as `x86_64`; absent: all.
    pub platform: Option<String>,
    /// The layer that shows it.
    pub layer: Layer,
    /// A part of its mismatches' signatures.
    pub signature: String,
    /// The highest rate at which it may appear.
    pub max_rate: f64,
    /// Where to read about it.
    pub link: String,
}

impl KnownIssue {
    /// Whether a JDK with this version on this platform is expected to show it.
    pub(super) fn applies(&self, version: &str, platform: &str) -> bool {
        let platform_fits = self.platform.as_deref().is_none_or(|p| p == platform);
        platform_fits
            && self
                .jdk
                .as_deref()
                .is_none_or(|range| within(range, feature(version)))
    }

    /// What is wrong with it, if anything is.
    pub fn complaint(&self) -> Option<String> {
        let id = &self.id;
        if !(0.0..=1.0).contains(&self.max_rate) {
            return Some(format!(
                "{id}: max_rate is from 0 to 1, not {}",
                self.max_rate
            ));
        }
        if self.signature.is_empty() {
            return Some(format!("{id}: an empty signature would hide everything"));
        }
        let range = self.jdk.as_deref()?;
        let parts = range
            .split('-')
            .all(|part| part.is_empty() || part.parse::<u32>().is_ok());
        (!parts || range.matches('-').count() > 1 || range == "-" || range.is_empty())
            .then(|| format!("{id}: jdk is a range as `17`, `17-21` or `21-`, not `{range}`"))
    }
}

pub(super) fn feature(version: &str) -> Option<u32> {
    let end = version
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(version.len());
    version[..end].parse().ok()
}

fn within(range: &str, feature: Option<u32>) -> bool {
    let Some(feature) = feature else {
        return false;
    };
    let (low, high) = range.split_once('-').unwrap_or((range, range));
    low.parse().is_ok_and(|low: u32| feature >= low)
        && high
            .parse()
            .map_or(high.is_empty(), |high: u32| feature <= high)
}

/// A known issue that was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownSeen {
    /// Its name.
    pub id: String,
    /// Where to read about it.
    pub link: String,
    /// How many of its mismatches were written down.
    pub mismatches: u64,
    /// Whether that is more than the issue may have.
    pub too_many: bool,
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
            assert_eq!(within(range, Some(feature)), expected, "{range} {feature}");
        }
        assert!(!within("17-", None));
        assert_eq!(feature("17.0.15+6-Debian"), Some(17));
        assert_eq!(feature("26-internal"), Some(26));
    }
}
