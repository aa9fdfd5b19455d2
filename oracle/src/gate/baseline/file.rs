//! The sets of several platforms.

use super::cell::What;
use super::sampled::samples;
use super::set::{Platform, Set};
use crate::gate::reason::trouble;
use crate::report::Report;
use std::collections::BTreeMap;

/// The results of JVMs that are known to be good.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baseline {
    /// The samples of each platform.
    pub sets: BTreeMap<Platform, Set>,
}

/// A place with a smaller count is left out: there are hundreds of places, and a single mismatch at
/// a place shows nothing.
pub const LEAST_AT_PLACE: u64 = 3;

/// A kind of instant that was met less often is left out: its rates are not known.
const LEAST_AT_INSTANT: u64 = 20;

impl Baseline {
    /// Adds a report. Fails if the report is not complete, because a baseline has only runs that
    /// went well.
    pub fn add_report(&mut self, report: &Report, arch: &str) -> Result<(), String> {
        if let Some(trouble) = report.runs.iter().find_map(trouble) {
            return Err(trouble.text);
        }
        if !report.complete {
            return Err("not all runs were done".into());
        }
        for (platform, set) in samples(report, arch)? {
            self.sets.entry(platform).or_default().append(set)?;
        }
        Ok(())
    }

    /// Adds the samples of another baseline.
    pub fn append(&mut self, other: Baseline) -> Result<(), String> {
        for (platform, set) in other.sets {
            self.sets.entry(platform).or_default().append(set)?;
        }
        Ok(())
    }

    /// Replaces the sets of platforms that `newer` has.
    pub fn replace(&mut self, newer: Baseline) {
        self.sets.extend(newer.sets);
    }

    /// Leaves out data that a small file does not need: times, places with small counts, and kinds of instants that were hardly met.
    pub fn condense(&mut self) {
        let is_frequent = |counts: &[u64]| counts.iter().sum::<u64>() >= LEAST_AT_PLACE;
        for set in self.sets.values_mut() {
            set.counts.retain(|cell, counts| {
                let is_place = cell.place.is_some();
                cell.what != What::Milliseconds && (!is_place || is_frequent(counts))
            });
            set.forget_rare_instants(LEAST_AT_INSTANT);
        }
    }
}
