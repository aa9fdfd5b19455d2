//! The results of a gate's command: its output, its reports, and the mutant's count of strikes.

use super::trial::Counts;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The layers that failed, each once and in their order. `cargo test` writes lines like
/// `test 17.0.19::test::asgct-async ... FAILED`, and `run --gate` lines like
/// `gate  asgct-async  9 mismatches in 10 checks …  over budget`.
pub fn failed(output: &str) -> Vec<String> {
    let mut layers: Vec<String> = vec![];
    for line in output.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        let layer = match words.as_slice() {
            ["test", name, "...", "FAILED"] => name.rsplit("::").next(),
            ["gate", layer, .., "over", "budget"] => Some(*layer),
            _ => None,
        };
        if let Some(layer) = layer.filter(|layer| !layers.iter().any(|known| known == layer)) {
            layers.push(layer.to_owned());
        }
    }
    layers
}

/// The counts by place come below the counts by cause. A count by place has one of these verdicts.
const VERDICTS: [&str; 2] = ["truncated", "wrong"];

/// The mismatches by layer and cause, from lines like `  8 x asgct-async leaf-call: what it is`.
pub fn causes(output: &str) -> BTreeMap<String, u64> {
    let mut causes = BTreeMap::new();
    for line in output.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        if let [count, "x", layer, cause, ..] = words.as_slice()
            && let (Ok(count), Some(cause)) = (count.parse::<u64>(), cause.strip_suffix(':'))
            && !VERDICTS.contains(&cause)
        {
            *causes.entry(format!("{layer} {cause}")).or_default() += count;
        }
    }
    causes
}

/// All files `report.json` below `folder` that were written since `start`.
pub fn reports(folder: &Path, start: SystemTime) -> Vec<PathBuf> {
    let mut found = vec![];
    let Ok(listing) = fs::read_dir(folder) else {
        return found;
    };
    for entry in listing.flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(reports(&path, start));
        } else if path.ends_with("report.json") {
            let written = entry.metadata().and_then(|data| data.modified());
            if written.is_ok_and(|written| written >= start) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// How often the mistake struck, from the mutant's file; 0 if there is no file.
pub fn strikes(path: &Path) -> u64 {
    let bytes = fs::read(path).ok().and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u64::from_le_bytes)
}

/// The counts of a report's layers; none if the text is no report.
pub fn counts(report: &str) -> Vec<Counts> {
    #[derive(Deserialize)]
    struct Report {
        layers: Vec<Counts>,
    }
    serde_json::from_str::<Report>(report).map_or(vec![], |report| report.layers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_layers_are_read_from_the_lines_of_tests() {
        let output = "running 3 tests\ntest 17.0.19::test::ground      ... ok\n\
                      test 17.0.19::test::asgct-async ... FAILED\n\
                      test 17.0.19::more::asgct-async ... FAILED\n\
                      test gst ... FAILED\ntest result: FAILED. 1 passed\n\
                      gate  call-edge  9 mismatches in 9 checks  budget 0  over budget\n\
                      gate  ground  0 mismatches in 9 checks  budget 0  pass\ngate: over budget\n";
        assert_eq!(failed(output), ["asgct-async", "gst", "call-edge"]);
    }

    #[test]
    fn causes_are_read_and_places_are_not() {
        let output = "  8 x asgct-async leaf-call: a function of a library\n\
                      the same by place:\n  8 x asgct-async truncated: missing at a.B.c()V\n\
                      2 x asgct-async leaf-call: again\n";
        let causes = causes(output);
        assert_eq!(causes["asgct-async leaf-call"], 10);
        assert!(!causes.contains_key("asgct-async truncated"));
    }

    #[test]
    fn reports_are_found_at_any_depth_if_they_are_new() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("17/test");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("report.json"), "{}").unwrap();
        fs::write(deep.join("other.json"), "{}").unwrap();
        let start = SystemTime::UNIX_EPOCH;
        assert_eq!(reports(folder.path(), start), [deep.join("report.json")]);
        let later = SystemTime::now() + std::time::Duration::from_secs(60);
        assert!(reports(folder.path(), later).is_empty());
    }

    #[test]
    fn counts_are_read_and_what_is_no_report_has_none() {
        let report = r#"{"schema": 1, "layers": [{"layer": "gst", "checks": 9, "match": 4,
            "window": 0, "unverifiable": 1, "truncated": 2, "wrong": 1, "error": {"-5": 1}}]}"#;
        let counts = counts(report);
        assert_eq!(counts[0].wrong, 1);
        assert_eq!(counts[0].error["-5"], 1);
        assert!(super::counts("{").is_empty());
    }
}
