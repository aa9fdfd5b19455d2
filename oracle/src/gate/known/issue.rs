//! What a known issue explains: one kind of mismatch, on some JVMs, up to some rate.

use super::range::{feature, is_range, within};
use crate::record::{CauseName, KindCount};
use crate::report::{Report, Run};
use crate::{Layer, Verdict};
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
    /// Its name, as `JDK-8301234`, which the gate shows.
    pub id: String,
    /// The layer that shows it.
    pub layer: Layer,
    /// `truncated` or `wrong`.
    pub verdict: Verdict,
    /// The cause, as reports name it; absent in layers whose mismatches have no causes.
    pub cause: Option<CauseName>,
    /// The method of the first differing frame, such as `java.lang.ref.Finalizer.register`; absent: any.
    pub place: Option<String>,
    /// The JDKs that show it: `17`, `17-21`, or `21-` for 21 and later; absent: all.
    pub jdk: Option<String>,
    /// Flags of the VM that a run must have to show it; absent: none.
    #[serde(default)]
    pub flags: Vec<String>,
    /// The processor architecture, as `x86_64`; absent: all.
    pub platform: Option<String>,
    /// The highest rate at which it may appear, from 0 to 1. Above it the gate fails.
    pub max_rate: f64,
    /// Where to read about it.
    pub link: String,
}

impl KnownIssues {
    /// What is wrong with an issue, by its number, if anything is: a value that is not allowed, or an
    /// issue that would hide more than one kind of mismatch.
    pub fn complaint(&self) -> Option<(usize, String)> {
        let issues = self.issues.iter().enumerate();
        let mut complaints = issues.filter_map(|(at, issue)| {
            let before = &self.issues[..at];
            let twin = before.iter().find(|other| other.overlaps(issue));
            let twice = twin.map(|twin| format!("{}: covers what {} covers", issue.id, twin.id));
            Some((at, issue.complaint().or(twice)?))
        });
        complaints.next()
    }
}

impl KnownIssue {
    /// Whether a run on this platform is expected to show it.
    pub(super) fn applies(&self, report: &Report, run: &Run, platform: &str) -> bool {
        let has_flag = |flag: &String| run.java_args.contains(flag);
        let is_in_range = |range: &str| within(range, feature(&report.jdk_of(run).version));
        self.platform.as_deref().is_none_or(|p| p == platform)
            && self.flags.iter().all(has_flag)
            && self.jdk.as_deref().is_none_or(is_in_range)
    }

    /// Whether mismatches of this kind are the issue's.
    pub(super) fn covers(&self, kind: &KindCount) -> bool {
        self.layer == kind.layer
            && self.verdict == kind.verdict
            && self.cause == kind.cause
            && self.place.as_ref().is_none_or(|place| *place == kind.place)
    }

    /// Whether a mismatch could be of both issues.
    fn overlaps(&self, other: &KnownIssue) -> bool {
        let kind = |of: &KnownIssue| (of.layer, of.verdict, of.cause.clone());
        let same_place = match (&self.place, &other.place) {
            (Some(one), Some(two)) => one == two,
            _ => true,
        };
        let same_jvm = self.jdk == other.jdk && self.flags == other.flags;
        kind(self) == kind(other) && same_place && same_jvm && self.platform == other.platform
    }

    /// What is wrong with the issue alone.
    fn complaint(&self) -> Option<String> {
        let id = &self.id;
        let cause = self.cause.as_ref().map(CauseName::as_str);
        if !(0.0..=1.0).contains(&self.max_rate) {
            let rate = self.max_rate;
            return Some(format!("{id}: max_rate is from 0 to 1, not {rate}"));
        }
        if !self.verdict.is_mismatch() {
            return Some(format!("{id}: the verdict is `truncated` or `wrong`"));
        }
        if self.place.as_deref() == Some("") {
            return Some(format!("{id}: an empty place is no method"));
        }
        if self.place.is_none() && !cause.is_some_and(CauseName::explains) {
            return Some(format!(
                "{id}: without a place it would hide mismatches of all kinds that nobody has explained"
            ));
        }
        let range = self.jdk.as_deref().filter(|range| !is_range(range))?;
        Some(format!(
            "{id}: jdk is a range as `17`, `17-21` or `21-`, not `{range}`"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issue(cause: Option<&str>, place: Option<&str>) -> KnownIssue {
        KnownIssue {
            id: "JDK-1".into(),
            layer: Layer::AsgctAsync,
            verdict: Verdict::Wrong,
            cause: cause.map(CauseName::new),
            place: place.map(Into::into),
            jdk: None,
            flags: vec![],
            platform: None,
            max_rate: 0.1,
            link: String::new(),
        }
    }

    #[test]
    fn an_issue_is_of_one_kind() {
        let complaint = |issues: &[KnownIssue]| {
            let issues = issues.to_vec();
            KnownIssues { issues }.complaint().map(|(at, _)| at)
        };
        let (whole, part) = (issue(Some("a"), None), issue(Some("a"), Some("A.b")));
        assert_eq!(complaint(std::slice::from_ref(&whole)), None);
        assert_eq!(complaint(&[whole.clone(), part.clone()]), Some(1));
        assert_eq!(complaint(&[part.clone(), issue(Some("b"), None)]), None);
        assert_eq!(complaint(&[issue(None, None)]), Some(0));
        assert_eq!(complaint(&[issue(Some("unexplained"), None)]), Some(0));
        assert_eq!(complaint(&[issue(Some("unexplained"), Some("A.b"))]), None);
    }

    #[test]
    fn another_kind_is_not_covered() {
        let kind = |verdict, cause: &str, place: &str| KindCount {
            layer: Layer::AsgctAsync,
            verdict,
            cause: Some(CauseName::new(cause)),
            place: place.into(),
            count: 1,
        };
        let issue = issue(Some("a"), Some("A.b"));
        assert!(issue.covers(&kind(Verdict::Wrong, "a", "A.b")));
        assert!(!issue.covers(&kind(Verdict::Truncated, "a", "A.b")));
        assert!(!issue.covers(&kind(Verdict::Wrong, "c", "A.b")));
        assert!(!issue.covers(&kind(Verdict::Wrong, "a", "A.bc")));
    }
}
