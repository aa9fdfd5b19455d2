//! Counts of answers by the kind of instant at which walkers were asked.

use super::errors::ErrorCount;
use super::mismatch::CauseName;
use crate::{Layer, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a layer's walker answered at one kind of instant. Which mistakes a walker can make depends on what the thread did, and how
/// often a thread is met doing it depends on the machine: rates at one kind of instant can be compared between machines and builds.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct InstantCount {
    /// The layer.
    pub layer: Layer,
    /// In signals the VM's name for the thread's state, and the kind of code that ran, such as `in Java, nmethod tier 4`, with the
    /// build of a library that the JDK did not bring, such as `in native, libc.so.6 (build 1f3a5b7c)`; in events the event. Instants beyond
    /// a limit count as [`InstantCount::OTHER`].
    pub at: String,
    /// How often the walker was asked there.
    pub checks: u64,
    /// Of these, how often it gave an error, by code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<i32, u64>,
    /// Of these, how often it showed a false stack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mismatches: Vec<MismatchCount>,
}

/// How often a walker showed one kind of false stack.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct MismatchCount {
    /// `truncated`, `wrong` or `imprecise`.
    pub verdict: Verdict,
    /// The cause, as in [`KindCount`](super::KindCount).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<CauseName>,
    /// The place, as in [`KindCount`](super::KindCount); [`KindCount::OTHER`](super::KindCount::OTHER) beyond a limit.
    pub place: String,
    /// How often.
    pub count: u64,
}

impl InstantCount {
    /// The name of all instants beyond the limit.
    pub const OTHER: &str = "other";

    const BUILD: &str = " (build ";

    /// The name of code of a library's build.
    pub fn of_build(library: &str, build: &str) -> String {
        format!("{library}{}{build})", InstantCount::BUILD)
    }

    /// Whether errors at `place`, which is the state and [`ErrorCount::kind`], were given at the kind of instant `at`.
    pub fn is_place(at: &str, place: &str) -> bool {
        let code = place.strip_suffix(ErrorCount::INTACT).unwrap_or(place);
        InstantCount::without_build(at) == code
    }

    /// The kind of instant without the build of the library.
    pub fn without_build(at: &str) -> &str {
        at.split_once(InstantCount::BUILD)
            .map_or(at, |(name, _)| name)
    }
}
