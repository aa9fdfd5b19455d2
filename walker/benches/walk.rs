//! What one walk costs, beside AsyncGetCallTrace: `cargo bench -p walker`. Measures, and never fails on a number.
//!
//! The fixtures of deep stacks run under the agent `walk.c` on each JDK, in the interpreter, with C1 alone, and
//! with the usual flags. Both walkers walk the same stacks, in the same handler.

#[path = "../tests/support/agent.rs"]
mod agent;

use classfile_testing::jdk::Jdk;
use test_support::run;

const FLAGS: [&str; 3] = ["-Xint", "-XX:TieredStopAtLevel=1", "-XX:+TieredCompilation"];
const FIXTURES: [&str; 3] = ["recursion-shallow", "recursion-deep", "mutual-recursion"];
const MILLIS: &str = "4000";

fn main() {
    // `cargo test --benches` runs the program too.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    println!("| JDK | flags | frames | stacks | AsyncGetCallTrace | AsyncGetStackTrace | ratio |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for jdk in Jdk::all() {
        let dir = tempfile::tempdir().expect("a folder");
        let agent = agent::build(&jdk, dir.path(), &["benches/walk.c"]);
        let installed = java_fixtures::write_to(dir.path()).expect("fixtures");
        for flag in FLAGS {
            let output = run(jdk
                .tool("java")
                .arg(format!("-agentpath:{}", agent.display()))
                .arg(flag)
                .arg("-cp")
                .arg(&installed.fixtures_jar)
                .arg(java_fixtures::MAIN_CLASS)
                .args(FIXTURES)
                .args(["--millis", MILLIS]));
            for line in output.ok().lines() {
                if let Some(row) = row(line) {
                    println!("| {} | `{flag}` | {row} |", jdk.feature);
                }
            }
        }
    }
}

/// A line of the agent as columns of the table.
fn row(line: &str) -> Option<String> {
    let numbers = line
        .strip_prefix("walk ")?
        .split(' ')
        .map(str::parse::<u64>);
    let numbers: Vec<u64> = numbers.collect::<Result<_, _>>().ok()?;
    let &[depth, stacks, asgct, asgst] = numbers.as_slice() else {
        return None;
    };
    let ratio = match (stacks, asgct) {
        (0, _) | (_, 0) => "no data".to_owned(),
        _ => format!("{:.2}", asgst as f64 / asgct as f64),
    };
    Some(format!(
        "{depth} | {stacks} | {asgct} ns | {asgst} ns | {ratio}"
    ))
}
