//! What `edges` reads: formats, files and class paths.
//!
//! * here: recordings of JFR are converted to the formats of other profilers. What `edges` finds possible
//!   with BCIs and descriptors is never impossible without them;
//! * `inputs`: several files, archives, dumps of a living JVM, cut recordings;
//! * `places`: where class files are.

mod converted;
mod inputs;
mod places;
#[path = "../support/mod.rs"]
mod support;

use converted::{STYLES, Style, Writer, plain};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use support::{DEEP, Output, VARIED, jdks, record_fixtures, run, stackwitness};

/// `edges` on a file, and its `--json`.
fn edges(dir: &Path, more: &[&str], file: &Path) -> (Output, serde_json::Value) {
    let json = dir.join("edges.json");
    let mut command = stackwitness();
    command.args(["judge", "--max-unknown", "1"]).args(more);
    let output = run(command.arg("-o").arg(&json).arg(file));
    assert!(matches!(output.code, Some(0 | 1)), "{output:?}");
    let report = fs::read_to_string(&json).unwrap();
    (output, serde_json::from_str(&report).unwrap())
}

/// The properties of the JVM that made a recording.
#[derive(Default)]
struct Properties(BTreeMap<String, String>);

impl recordings::Sink for Properties {
    fn method(&mut self, _: recordings::Method<'_>) -> u32 {
        0
    }

    fn property(&mut self, key: &str, value: &str) {
        self.0.insert(key.into(), value.into());
    }

    fn stack(&mut self, _: recordings::Stack<'_>) {}

    fn note(&mut self, _: recordings::Note) {}
}

/// The edges of a report that are not possible, or not known to be: caller with its place, and callee. A class that the
/// VM makes is unknown where the recording tells its place, and an edge to it may be one of JFR's mistakes.
fn not_possible(report: &serde_json::Value) -> HashSet<(String, String)> {
    let all = report["not_possible"].as_array().unwrap().iter();
    let edges = all.filter_map(|edge| {
        let caller = edge["caller"].as_str()?;
        let place = match edge["bci"].as_i64() {
            Some(bci) => format!("@{bci}"),
            None => "@native".into(),
        };
        let callee = edge["callee"].as_str()?;
        Some((format!("{}{place}", plain(caller)), plain(callee)))
    });
    edges.collect()
}

/// Converts a recording to each format and judges the result. Each stack is left out that has an
/// edge in the recording itself that is not possible.
fn convert(recording: &Path) {
    let dir = tempfile::tempdir().unwrap();
    let (_, report) = edges(dir.path(), &[], recording);
    let not_possible = not_possible(&report);
    let unknown = report["unknown"].as_u64().unwrap();
    let mut properties = Properties::default();
    recordings::read(recording, &[], &mut properties).unwrap();
    let property = |name: &str| {
        properties
            .0
            .get(name)
            .map(String::as_str)
            .unwrap_or_default()
    };
    let [home, classes] = ["java.home", "java.class.path"].map(property);
    let all = ["--jdk", home, "--classpath", classes];
    println!(
        "{}: {} edges, {} unknown",
        recording.display(),
        report["edges"],
        report["unknown"]
    );
    for style in STYLES {
        let mut writer = Writer::new(style, &not_possible);
        recordings::read(recording, &[], &mut writer).unwrap();
        let file = dir.path().join("converted");
        writer.write_to(&file);
        let (output, report) = edges(dir.path(), &all, &file);
        println!(
            "{style:?}: {} stacks ({} left out), {} edges, {} impossible, {} unknown",
            writer.stacks,
            writer.left_out,
            report["edges"],
            report["impossible"],
            report["unknown"]
        );
        assert_eq!(report["stacks"], writer.stacks, "{output:?}");
        assert!(
            writer.left_out * 10 < writer.stacks,
            "{style:?}: few stacks are left"
        );
        assert_eq!(report["impossible"], 0, "{style:?}: {}", output.stdout);
        let count = |name: &str| report[name].as_u64().unwrap();
        // A method without a name makes the edges around it unknown.
        let more = if style == Style::Unnamed {
            2 * writer.stacks
        } else {
            0
        };
        assert!(
            count("unknown") <= unknown + more + count("edges") / 50,
            "{style:?}: {}",
            output.stdout
        );
    }
}

#[test]
fn what_is_possible_stays_possible_in_other_formats() {
    for jdk in jdks() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("recording.jfr");
        record_fixtures(&jdk, &file, ",settings=profile", &[DEEP], &VARIED);
        convert(&file);
    }
}

/// `STACKWITNESS_RECORDINGS=FOLDER cargo test --test formats -- --ignored --nocapture`.
#[test]
#[ignore = "needs recordings of programs"]
fn recordings_of_programs_too() {
    let folder = std::env::var("STACKWITNESS_RECORDINGS").expect("the folder of the recordings");
    let entries = fs::read_dir(folder).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|f| f.extension() == Some("jfr".as_ref()))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files.iter().for_each(|file| convert(file));
}
