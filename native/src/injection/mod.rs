//! Fault injection: walkers and hooks that fail on purpose, to see whether the judges notice (see
//! [`oracle::mutants`]).

pub mod hook_faults;
pub mod walker_faults;

use crate::locks::lock;
use oracle::mutants::Detection;
use oracle::record::FaultCount;
use oracle::{Layer, Verdict};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

/// How a fault ended: the layer, the kind of fault, its verdict, and whether the judge noticed the
/// fault.
type End = (Layer, &'static str, Verdict, Detection);

/// Counts the faults by how they ended.
#[derive(Default)]
pub struct FaultLog(Mutex<HashMap<End, u64>>);

impl FaultLog {
    /// Notes that `count` faults ended in this way.
    pub fn note(
        &self,
        layer: Layer,
        kind: &'static str,
        given: Verdict,
        outcome: Detection,
        count: u64,
    ) {
        let mut counts = self.lock();
        *counts.entry((layer, kind, given, outcome)).or_default() += count;
    }

    /// All counts; empty if no fault was injected.
    pub fn counts(&self) -> Vec<FaultCount> {
        let fault_log = self.lock();
        let mut counts: Vec<_> = fault_log
            .iter()
            .map(|(&(layer, kind, verdict, outcome), &count)| FaultCount {
                layer,
                kind: kind.into(),
                verdict,
                outcome,
                count,
            })
            .collect();
        counts.sort_by(|a, b| (a.layer, &a.kind, a.outcome).cmp(&(b.layer, &b.kind, b.outcome)));
        counts
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<End, u64>> {
        lock(&self.0)
    }
}
