//! Walks from altered contexts: ours survive them, and a crash of AsyncGetCallTrace leaves what was altered.

mod support;

use oracle::Layer;
use oracle::record::altered::{Alteration, AlteredWalks, LayerWalks};
use oracle::report::Run;
use std::path::Path;
use support::{Output, jdks, report, run, seeds, stackwitness};

/// Runs fixtures whose samples `layer` takes, with altered walks after each.
fn altered(jdk: &Path, out: &Path, layer: Layer, seed: u64, options: &str) -> Output {
    let hooks = if layer.row().program.is_for(false) {
        "none"
    } else {
        "exact"
    };
    let scenario = format!(
        "name = \"altered\"\nlayers = [\"{layer}\"]\n\
         [budget]\n{layer} = 1\n[imprecise_budget]\n{layer} = 1\n\
         [sampling]\ninterval_us = 500\ngst_every = 1\naltered = {{ walks = 50, stack = true }}\n\
         [[program]]\nname = \"program\"\nbaseline = false\nhooks = \"{hooks}\"\n\
         jvm_args = [\"-XX:-CreateCoredumpOnCrash\", \"{options}\"]\n\
         fixtures = {{ names = [\"mutual-recursion\", \"exceptions-up\", \"method-handles\"], seconds = 2 }}\n"
    );
    let file = out.with_extension("toml");
    std::fs::write(&file, scenario).unwrap();
    let mut command = stackwitness();
    command.args(["run", "--scenario"]).arg(file);
    command.arg("--seed").arg(seed.to_string());
    run(command.arg("--jdk").arg(jdk).arg("--out").arg(out))
}

fn only_run(out: &Path) -> Run {
    let mut runs = report(out).runs;
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

fn walks_of(altered: &AlteredWalks, layer: Layer) -> Option<&LayerWalks> {
    altered.layers.iter().find(|walks| walks.layer == layer)
}

#[test]
fn our_walker_survives_altered_contexts_and_stacks() {
    for jdk in jdks() {
        for option in ["-Xint", "-XX:TieredStopAtLevel=1", "-XX:+TieredCompilation"] {
            let what = format!("{}, {option}", jdk.display());
            let dir = tempfile::tempdir().unwrap();
            for seed in seeds(&format!("{what}: waiting for walks")) {
                let out = dir.path().join(seed.to_string());
                let output = altered(&jdk, &out, Layer::AsgstGst, seed, option);
                assert!(matches!(output.code, Some(0 | 3)), "{what}: {output:#?}");
                let Some(altered) = only_run(&out).altered else {
                    continue;
                };
                assert_eq!(altered.unfinished, None, "{what}");
                let Some(walks) = walks_of(&altered, Layer::AsgstGst) else {
                    continue;
                };
                let errors: u64 = walks.errors.values().sum();
                assert_eq!(walks.walks, walks.answers + errors, "{what}");
                let kinds: Vec<_> = walks.alterations.keys().copied().collect();
                if walks.walks >= 1_000 && walks.answers > 0 && kinds == Alteration::ALL {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_crash_of_the_walker_leaves_what_was_altered() {
    for jdk in jdks() {
        let what = jdk.display();
        // Every JVM that was tried crashes within seconds.
        let dir = tempfile::tempdir().unwrap();
        for seed in seeds(&format!("{what}: waiting for a crash")) {
            let out = dir.path().join(seed.to_string());
            let output = altered(&jdk, &out, Layer::AsgctGst, seed, "-XX:+TieredCompilation");
            let run = only_run(&out);
            if output.code != Some(4) {
                assert_eq!(run.altered.unwrap_or_default().unfinished, None, "{what}");
                continue;
            }
            let unfinished = run.altered.and_then(|altered| altered.unfinished);
            let unfinished = unfinished.expect("it crashed in a walk");
            assert_eq!(unfinished.layer, Layer::AsgctGst, "{what}");
            assert!(!unfinished.changes.is_empty(), "{what}");
            let notes = run.notes.join("\n");
            assert!(notes.contains("crash: "), "{what}: {notes}");
            let table = support::run(
                stackwitness()
                    .arg("render")
                    .arg(&out)
                    .args(["--format", "table"]),
            );
            let where_it_crashed = "in a walk of asgct-gst from a context with ";
            assert!(table.stdout.contains(where_it_crashed), "{table:#?}");
            break;
        }
    }
}
