//! The facts of a whole recording.

use std::collections::BTreeMap;

/// The events of the samplers.
pub const SAMPLES: [&str; 6] = [
    "jdk.ExecutionSample",
    "jdk.NativeMethodSample",
    "jdk.CPUTimeSample",
    // Of async-profiler.
    "profiler.WallClockSample",
    // Of Datadog's profiler.
    "datadog.ExecutionSample",
    "datadog.MethodSample",
];

/// The facts of a whole recording.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Events that hold stacks, by name.
    pub(super) with_stacks: BTreeMap<String, u64>,
    /// The most frames of a stack, if the recording says so.
    pub(super) depth: Option<usize>,
    pub(super) failed: u64,
    /// Wanted events without a stack, besides those that failed.
    pub(super) without_stack: u64,
    /// Wanted events whose stack has no frame of a Java method.
    pub(super) without_java: u64,
    /// Wanted events whose stack is damaged, or not in the file.
    pub(super) damaged: u64,
    pub(super) biased: u64,
    pub(super) interference: BTreeMap<String, u64>,
}
