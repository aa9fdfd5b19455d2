//! Reads the files of an agent, also after a crash.

use oracle::Layer;
use oracle::bias::{Pairs, Sampler, StackProfiles};
use oracle::profile::Profile;
use oracle::record::altered::{ALTERED_FILE, AlteredWalks};
use oracle::record::{
    EdgeCounts, ErrorCount, InstantCount, Kept, KindCount, Lost, RECORDS_FILE, Record, Rewriting,
    SLOTS_FILE, Started, StepCounts,
};
use oracle::tally::{Tally, slots};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What an agent wrote.
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub started: Option<Started>,
    pub lost: Vec<Lost>,
    pub mismatches: Vec<Kept>,
    pub invalid: Option<String>,
    pub rewriting: Option<Rewriting>,
    pub errors: Vec<ErrorCount>,
    pub in_handlers: BTreeMap<String, u64>,
    pub instants: Vec<InstantCount>,
    pub kinds: Vec<KindCount>,
    pub profile: Profile,
    pub bias: BTreeMap<Sampler, Pairs>,
    pub bias_stacks: BTreeMap<Sampler, StackProfiles>,
    pub edges: EdgeCounts,
    pub steps: Option<StepCounts>,
    pub ended: bool,
    /// What could not be read.
    pub notes: Vec<String>,
}

impl Records {
    fn keep(&mut self, kept: Kept) {
        match self
            .mismatches
            .iter_mut()
            .find(|older| kept.replaces(older))
        {
            Some(older) => *older = kept,
            None => self.mismatches.push(kept),
        }
    }
}

/// Reads the records of a run.
pub(crate) fn read(dir: &Path) -> Records {
    let mut records = Records::default();
    let text = fs::read(dir.join(RECORDS_FILE)).unwrap_or_default();
    for (at, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
        match serde_json::from_slice(line) {
            Ok(Record::Started(started)) => records.started = Some(started),
            Ok(Record::Lost(lost)) => records.lost.extend(lost),
            Ok(Record::Mismatch(kept)) => records.keep(*kept),
            Ok(Record::Invalid(why)) => records.invalid = records.invalid.or(Some(why)),
            Ok(Record::Rewriting(rewriting)) => records.rewriting = Some(rewriting),
            // Records of developer options. Their users read the file themselves.
            Ok(Record::Faults(_) | Record::Paced(_)) => {}
            Ok(Record::Errors(errors)) => records.errors = errors,
            Ok(Record::InHandlers(counts)) => records.in_handlers = counts,
            Ok(Record::Instants(instants)) => records.instants = instants,
            Ok(Record::Kinds(kinds)) => KindCount::update(&mut records.kinds, kinds),
            Ok(Record::Profile(profile)) => records.profile = profile,
            Ok(Record::Bias(bias)) => records.bias = bias,
            Ok(Record::Stacks(stacks)) => records.bias_stacks = stacks,
            Ok(Record::Edges(edges)) => records.edges = edges,
            Ok(Record::Steps(steps)) => records.steps = Some(steps),
            Ok(Record::Ended) => records.ended = true,
            Err(_) if !line.ends_with(b"\n") => {
                records.notes.push("the last record was cut off".into())
            }
            Err(e) => records
                .notes
                .push(format!("record {} cannot be read: {e}", at + 1)),
        }
    }
    records
}

/// Reads the tally of each of `layers`. A slot that is absent counts as 0.
pub(crate) fn tallies(dir: &Path, layers: &[Layer]) -> Vec<(Layer, Tally)> {
    let bytes = fs::read(dir.join(SLOTS_FILE)).unwrap_or_default();
    let slots = slots(&bytes);
    layers
        .iter()
        .map(|&layer| (layer, Tally::from_slots(&slots, layer)))
        .collect()
}

/// Reads the walks from altered contexts, if the run made any.
pub(crate) fn altered(dir: &Path) -> Option<AlteredWalks> {
    AlteredWalks::read(&fs::read(dir.join(ALTERED_FILE)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_off_costs_only_itself() {
        let dir = tempfile::tempdir().unwrap();
        let good = serde_json::to_string(&Record::Invalid("why".into())).unwrap();
        fs::write(
            dir.path().join(RECORDS_FILE),
            format!("{good}\n\"ended\"\n{{\"mism"),
        )
        .unwrap();
        let records = read(dir.path());
        assert_eq!(records.invalid.as_deref(), Some("why"));
        assert!(records.ended);
        assert_eq!(records.notes, ["the last record was cut off"]);
    }

    #[test]
    fn the_last_copy_of_a_repeated_record_counts() {
        let dir = tempfile::tempdir().unwrap();
        let profile = |count| Profile::new(&["A.b()V".into()], [(vec![0], count)], 9, 0);
        let errors = |count| {
            vec![ErrorCount {
                layer: Layer::AsgctAsync,
                code: -3,
                state: "in the VM".into(),
                place: "libjvm.so".into(),
                intact: false,
                count,
            }]
        };
        let lines: String = (1..=2)
            .flat_map(|n| [Record::Errors(errors(n)), Record::Profile(profile(n))])
            .map(|record| serde_json::to_string(&record).unwrap() + "\n")
            .collect();
        fs::write(dir.path().join(RECORDS_FILE), lines).unwrap();
        let records = read(dir.path());
        assert_eq!((records.errors, records.profile), (errors(2), profile(2)));
    }

    #[test]
    fn a_mismatch_takes_the_place_of_an_older_one_of_its_kind() {
        let dir = tempfile::tempdir().unwrap();
        let line = |place, verdict, cause: &str, thread: &str| {
            let mismatch = format!(
                r#""layer":"gst","verdict":"{verdict}","reason":"","thread":"{thread}","walker":[],"truth":[],"at_frame":null"#
            );
            format!("{{\"mismatch\":{{\"place\":{place},{mismatch}{cause}}}}}\n")
        };
        let cause = r#","cause":"c""#;
        let lines = [
            line(0, "wrong", "", "a"),
            line(0, "truncated", "", "b"),
            line(0, "wrong", cause, "c"),
            line(1, "wrong", "", "d"),
            line(0, "wrong", "", "e"),
        ];
        fs::write(dir.path().join(RECORDS_FILE), lines.concat()).unwrap();
        let records = read(dir.path());
        assert_eq!(records.notes, [""; 0]);
        let mut left = records.mismatches.iter();
        let threads: Vec<_> = left.by_ref().map(|kept| &kept.mismatch.thread).collect();
        assert_eq!(threads, ["e", "b", "c", "d"]);
    }

    #[test]
    fn nothing_written_is_nothing_counted() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read(dir.path()).started.is_none());
        assert_eq!(tallies(dir.path(), &Layer::ALL)[1].1.checks(), 0);
    }
}
