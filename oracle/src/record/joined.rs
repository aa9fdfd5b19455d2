//! What was joined of the events of one of the JVM's own samplers.

use crate::Layer;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The events of one sampler in a run, and the requests that the agent copied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JoinCounts {
    /// The layer of the sampler.
    pub layer: Layer,
    /// The sampler's events in the recording.
    pub events: u64,
    /// Of these, the events that belong to exactly one copied request.
    pub joined: u64,
    /// The requests that the agent copied.
    pub requests: u64,
    /// Of these, the requests with an event.
    pub answered: u64,
    /// Requests that the agent could not copy, because all memory for copies was in use.
    pub not_copied: u64,
    /// Samples that the JVM lost, by its own count.
    pub lost: u64,
    /// Events that say that their walk failed.
    pub failed: u64,
    /// Events of one of the JVM's own samplers that say that their stack was cut.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub truncated: u64,
    /// Events of a profiler that says, by a frame of its own, that it could not walk on.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub said: u64,
    /// Events of a profiler without a Java frame, of threads that had none, as the JVM's own: in none of the other counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub other_threads: u64,
    /// Events of a profiler that ran before the agent could copy: in none of the other counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub early: u64,
    /// Events of a profiler that show the stack of an earlier event of their thread again, without a walk: in none of the
    /// other counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeated: u64,
    /// Requests that came while their thread was in a hook, which an unmodified program does not have: they are in none of the
    /// other counts, and of their events only those are where compiled code of the hook ran.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_hooks: u64,
    /// Of `requests`, those that the JVM had given up before its signal reached the thread, which waited for a processor. They
    /// have no event, and are no check.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub given_up: u64,
    /// Verdicts on the events that say that their stack may be that of a later safepoint. In the layer's counts
    /// these events are unverifiable.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub biased: BTreeMap<String, u64>,
    /// Joined events by the VM's name for the code that ran at their requests, if that is known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub codes: BTreeMap<String, CodeCounts>,
    /// Why no event was joined, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_none: Option<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The requests that were made in one kind of code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CodeCounts {
    /// Their different program counters.
    pub instructions: u64,
    /// Verdicts on the requests whose event does not say that its stack may be that of a later safepoint, and on those without
    /// an event.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub verdicts: BTreeMap<String, u64>,
    /// Verdicts on those that do.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub biased: BTreeMap<String, u64>,
}

impl JoinCounts {
    /// Nothing was joined yet.
    pub fn new(layer: Layer) -> JoinCounts {
        JoinCounts {
            layer,
            events: 0,
            joined: 0,
            requests: 0,
            answered: 0,
            not_copied: 0,
            lost: 0,
            failed: 0,
            truncated: 0,
            said: 0,
            other_threads: 0,
            early: 0,
            repeated: 0,
            in_hooks: 0,
            given_up: 0,
            biased: BTreeMap::new(),
            codes: BTreeMap::new(),
            why_none: None,
        }
    }

    /// The share of the events that were joined, from 0 to 1; `None` without events.
    pub fn share(&self) -> Option<f64> {
        (self.events > 0).then(|| self.joined as f64 / self.events as f64)
    }
}
