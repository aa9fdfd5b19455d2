//! Counts of mismatches by kind.

use super::mismatch::CauseName;
use crate::{Layer, Verdict};
use serde::{Deserialize, Serialize};

/// How often a layer saw one kind of mismatch in a run. The counts of all kinds of a layer and
/// verdict add up to the layer's count of that verdict, unless the JVM crashed, because the counts
/// are written once a second.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct KindCount {
    /// The layer.
    pub layer: Layer,
    /// `truncated`, `wrong` or `imprecise`.
    pub verdict: Verdict,
    /// The cause; [`CauseName::NOT_LOOKED_AT`] if there was no time to look for a cause. `None` in
    /// layers whose mismatches have no causes, because they judge the hooks or GetStackTrace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<CauseName>,
    /// `package.Class.method` of the first differing frame; of the lowest frame if the bottom is
    /// missing; of the compiled method at the program counter for `imprecise` stacks. Parts that
    /// differ from run to run, such as the address in the name of a hidden class, are left out.
    /// Places of one layer, verdict and cause beyond a limit count as [`KindCount::OTHER`].
    pub place: String,
    /// How often.
    pub count: u64,
}

impl KindCount {
    /// The name of all places beyond the limit.
    pub const OTHER: &str = "other";

    /// Whether these are false stacks in which a cause was looked for and none was proven.
    pub fn is_unexplained(&self) -> bool {
        let cause = self.cause.as_ref();
        self.verdict.is_mismatch() && cause.is_some_and(CauseName::is_unexplained)
    }

    /// Whether `other` counts the same kind.
    pub fn is_of_kind(&self, other: &KindCount) -> bool {
        let kind = |of: &KindCount| (of.layer, of.verdict);
        kind(self) == kind(other) && self.cause == other.cause && self.place == other.place
    }

    /// Adds `newer` counts. Each replaces the older count of its kind.
    pub fn update(all: &mut Vec<KindCount>, newer: Vec<KindCount>) {
        for count in newer {
            match all.iter_mut().find(|known| known.is_of_kind(&count)) {
                Some(known) => *known = count,
                None => all.push(count),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_count_replaces_that_of_its_kind() {
        let kind = |cause: Option<&str>, place: &str, count| KindCount {
            layer: Layer::AsgctAsync,
            verdict: Verdict::Wrong,
            cause: cause.map(CauseName::new),
            place: place.into(),
            count,
        };
        let mut all = vec![];
        KindCount::update(
            &mut all,
            vec![kind(Some("c"), "A.b", 1), kind(None, "A.b", 2)],
        );
        KindCount::update(
            &mut all,
            vec![kind(Some("c"), "A.b", 7), kind(None, "A.c", 3)],
        );
        let expected = [
            kind(Some("c"), "A.b", 7),
            kind(None, "A.b", 2),
            kind(None, "A.c", 3),
        ];
        assert_eq!(all, expected);
        let json = serde_json::to_string(&all[0]).expect("plain data");
        let expected =
            r#"{"layer":"asgct-async","verdict":"wrong","cause":"c","place":"A.b","count":7}"#;
        assert_eq!(json, expected);
        let back: KindCount = serde_json::from_str(&json).expect("just written");
        assert_eq!(back, all[0]);
    }
}
