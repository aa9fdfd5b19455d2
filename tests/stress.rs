//! Threads that come and go, stacks that overflow, virtual threads, classes redefined and unloaded:
//! each stress fixture ends by itself under full sampling, and `ground` and `gst` have no mismatch.

mod support;

use java_fixtures::Installed;
use oracle::record::{Config, RECORDS_FILE, Record, SLOTS_FILE, Sampling};
use oracle::tally::{Tally, slots};
use oracle::{Hooking, Layer};
use std::fs;
use std::path::Path;
use std::process::Command;
use support::{on_each_jdk, run};

/// The result of one run.
struct Measured {
    tallies: Vec<(Layer, Tally)>,
    records: Vec<Record>,
}

/// Runs a fixture with the agent. Fails unless the fixture ends by itself, in time and with exit
/// code 0.
fn measure(jdk: &Path, fixture: &str, installed: &Installed, hooks: Hooking) -> Measured {
    let dir = tempfile::tempdir().unwrap();
    let config = Config {
        run_dir: dir.path().into(),
        trace_class: match hooks {
            Hooking::Light => installed.trace_light.clone(),
            Hooking::None | Hooking::Exact => installed.trace_exact.clone(),
        },
        hooks,
        sampling: Sampling {
            interval_us: 0,
            evidence_limit: 5,
            native_calls: false,
            ..Sampling::default()
        },
        ..config()
    };
    let jar = &installed.fixtures_jar;
    let path = dir.path().join("config.json");
    fs::write(&path, serde_json::to_vec(&config).unwrap()).unwrap();
    let agent = libraries::AGENT.place(dir.path()).unwrap();
    let agent = format!("-agentpath:{}={}", agent.display(), path.display());
    let output = run(Command::new(jdk.join("bin/java"))
        .args([&agent, "-Xmx512m"])
        .arg(format!("-javaagent:{}", jar.display()))
        .arg("-cp")
        .arg(jar)
        .args([java_fixtures::MAIN_CLASS, fixture]));
    let told = || format!("{fixture} on {}: {output:#?}", jdk.display());
    assert_eq!(output.code, Some(0), "{}", told());
    assert!(output.stdout.contains(fixture), "{}", told());

    let slots = slots(&fs::read(dir.path().join(SLOTS_FILE)).unwrap());
    let tallies = Layer::ALL.map(|layer| (layer, Tally::from_slots(&slots, layer)));
    let records = fs::read_to_string(dir.path().join(RECORDS_FILE)).unwrap();
    let records = records
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    Measured {
        tallies: tallies.into(),
        records: records.collect(),
    }
}

fn config() -> Config {
    serde_json::from_value(serde_json::json!({
        "run_dir": "", "trace_class": "", "seed": 1, "hooks": true,
    }))
    .unwrap()
}

#[test]
fn every_stress_ends_by_itself_with_every_loss_counted() {
    let dir = tempfile::tempdir().unwrap();
    let installed = java_fixtures::write_to(dir.path()).unwrap();
    let each = |jdk: &Path, hooks: Hooking| {
        for fixture in java_fixtures::STRESS_NAMES {
            let measured = measure(jdk, fixture, &installed, hooks);
            let place = format!("{fixture} on {}, {hooks} hooks", jdk.display());
            assert!(
                matches!(measured.records.last(), Some(Record::Ended)),
                "{place}"
            );
            for record in &measured.records {
                assert!(!matches!(record, Record::Invalid(_)), "{place}: {record:?}");
            }
            for (layer, tally) in &measured.tallies {
                println!("{place}: {layer} {tally:?}");
                assert!(tally.drops() <= tally.unverifiable, "{place}: {layer}");
                if matches!(layer, Layer::Ground | Layer::Gst) {
                    let found = measured
                        .records
                        .iter()
                        .find(|record| matches!(record, Record::Mismatch(kept) if kept.mismatch.layer == *layer));
                    assert_eq!(tally.mismatches(), 0, "{place}: {layer}: {found:#?}");
                    assert!(tally.matches > 0, "{place}: {layer}");
                }
            }
        }
    };
    on_each_jdk(|jdk| {
        each(jdk, Hooking::Exact);
        each(jdk, Hooking::Light);
    });
}
