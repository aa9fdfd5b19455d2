//! What hooks cost real programs, and whether they stay true: the scenario `overhead`. Measures, and never fails on a
//! number.
//!
//! `cargo bench --bench overhead [-- SCENARIO]` prints the CPU time of each program with exact and light hooks, as a multiple of
//! that without the agent (the median of the repetitions), and what the layers that hold hooks and GetStackTrace against each
//! other have found. It takes some minutes for each program; one that is not installed is skipped, with a message. Another
//! scenario has programs of your own.
//!
//! `JAVA_HOME` names the JDK. Without it the newest JDK found is used.

use oracle::Layer;
use std::collections::BTreeMap;
use std::process::Command;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let scenario = arguments.find(|argument| !argument.starts_with("--"));
    let out = tempfile::tempdir().expect("a folder for the runs");
    let status = Command::new(env!("CARGO_BIN_EXE_stackwitness"))
        .args(["run", "--scenario"])
        .arg(scenario.as_deref().unwrap_or("overhead"))
        .arg("--out")
        .arg(out.path())
        .status()
        .expect("the program starts");
    println!("stackwitness ended with {status}");
    let report = match scenarios::store::read_report(out.path()) {
        Ok(report) => report,
        Err(error) => return println!("no data: {error}"),
    };
    let mut costs: BTreeMap<(&str, _), Vec<f64>> = BTreeMap::new();
    for run in &report.runs {
        if let (Some(hooks), Some(cost)) = (run.hooks, &run.cost) {
            let found = costs.entry((&run.scenario, hooks)).or_default();
            found.extend(cost.slowdown_cpu);
        }
    }
    for ((program, hooks), mut found) in costs {
        found.sort_by(f64::total_cmp);
        // Of an even number the lower of both, as in docs/results/cost.md.
        match found.get(found.len().saturating_sub(1) / 2) {
            Some(median) => println!("{program} {hooks} {median:.2}"),
            None => println!("{program} {hooks} no data"),
        }
    }
    let proofs = [Layer::Ground, Layer::Gst];
    for layer in report.layers.iter().filter(|l| proofs.contains(&l.layer)) {
        let tally = layer.tally();
        let (found, checks) = (tally.mismatches(), tally.checks());
        println!("{}: {found} of {checks} false", layer.layer);
    }
}
