//! The cost of layer `call-edge` alone. Measures, and never fails on a number.
//!
//! `cargo bench --bench edges [-- PAIRS [PAUSE_US]]`: a program does the same work with the agent
//! and without, in turns, once at a thousand samples a second and once as fast as the sampler can,
//! or with the given pause. The benchmark prints
//!
//! * how many stacks were judged per second of CPU time for judging;
//! * the program thread's own CPU time as a multiple of that without the agent. Signals and the
//!   reading of classes are in this time. It is the program's speed, whatever else the machine
//!   does;
//! * the sampler's CPU time, which another core spends, as a share of the program's.
//!
//! `JAVA_HOME` names the JDK. Without it the newest JDK found is used.

mod support;

use oracle::record::{EdgeCounts, RECORDS_FILE, Record};
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;
use support::Median;

/// Pauses between two samples, in microseconds: about a thousand a second, and none.
const PAUSES: [u64; 2] = [900, 0];

/// Programs with one thread, and their work. The work is long, so that the start of the VM is a
/// small part.
const PROGRAMS: [(&str, &[&str]); 2] = [
    ("stackwitness.fixtures.Main", &["math-parser=3000"]),
    ("stackwitness.fixtures.Javac", &["--rounds", "6"]),
];

fn main() {
    let Ok(jdk) = scenarios::jdk::Jdk::find(None) else {
        println!("skipped: no JDK found");
        return;
    };
    let mut numbers = std::env::args().filter_map(|arg| arg.parse::<u64>().ok());
    let pairs = numbers.next().unwrap_or(5);
    let pauses = numbers.next().map_or(PAUSES.to_vec(), |pause| vec![pause]);
    let dir = tempfile::tempdir().expect("a folder for the runs");
    for (class, work) in PROGRAMS {
        let program = [&[class], work].concat();
        for &pause_us in &pauses {
            println!("{}, pause {pause_us} µs", program.join(" "));
            compare(&jdk.java(), dir.path(), &program, pause_us, pairs);
        }
    }
}

/// The cost of one run, in seconds of CPU time.
struct Took {
    program: f64,
    sampler: f64,
    edges: EdgeCounts,
}

fn compare(java: &Path, dir: &Path, program: &[&str], pause_us: u64, pairs: u64) {
    let mut judged = vec![];
    let mut slower = vec![];
    let mut sampler = vec![];
    for pair in 0..pairs {
        // The second run has a warmer machine, so the order alternates.
        let runs = [pair % 2 == 0, pair % 2 == 1];
        let took = runs.map(|agent| (agent, run(java, dir, program, agent.then_some(pause_us))));
        let of = |wanted| took.iter().find(|(agent, _)| *agent == wanted);
        let (Some((_, with)), Some((_, without))) = (of(true), of(false)) else {
            continue;
        };
        let (stacks, seconds) = (with.edges.asgct.stacks, with.program);
        let edges: u64 = with.edges.asgct.edges.values().sum();
        println!(
            "  {seconds:.2} s, without {:.2} s; {:.0} stacks per second of it, {:.1} edges each",
            without.program,
            stacks as f64 / seconds,
            edges as f64 / stacks as f64,
        );
        judged.extend(with.edges.judged_per_cpu_s());
        slower.push(with.program / without.program);
        sampler.push(with.sampler / with.program);
    }
    let medians = [judged, slower, sampler].map(Median::of);
    let [Some(judged), Some(slower), Some(sampler)] = medians else {
        println!("  no data");
        return;
    };
    println!(
        "  medians: {:.0} stacks judged per second of CPU; program {:.3} times (95 %: {:.3} to {:.3}); sampler {:.3} of it",
        judged.value, slower.value, slower.low, slower.high, sampler.value
    );
}

/// Runs the program to its end, with the agent if `pause_us` is given.
fn run(java: &Path, dir: &Path, program: &[&str], pause_us: Option<u64>) -> Took {
    let _ = fs::remove_file(dir.join(RECORDS_FILE));
    let config = pause_us.map(|pause_us| support::edges_alone(dir, pause_us));
    let mut command = support::java(java, dir, config.as_ref());
    let child = command.args(program).stdout(Stdio::null()).spawn();
    let times = cpu_times(child.expect("the JVM starts"));
    let of = |name| {
        times
            .values()
            .filter(move |(own, _)| own == name)
            .map(|(_, s)| s)
    };
    let mut edges = support::records(dir)
        .into_iter()
        .filter_map(|record| match record {
            Record::Edges(edges) => Some(edges),
            _ => None,
        });
    Took {
        // The launcher's name is that of the thread in which it runs `main`.
        program: of("java").sum(),
        sampler: of("Stackwitness").sum(),
        edges: edges.next_back().unwrap_or_default(),
    }
}

/// The names of all threads that `child` had, and how many seconds they ran (`schedstat`, in
/// `proc_pid_task(5)`), as last seen before each ended.
fn cpu_times(mut child: Child) -> HashMap<u64, (String, f64)> {
    let tasks = format!("/proc/{}/task", child.id());
    let mut times = HashMap::new();
    while matches!(child.try_wait(), Ok(None)) {
        for task in fs::read_dir(&tasks).into_iter().flatten().flatten() {
            let read = |name| fs::read_to_string(task.path().join(name)).ok();
            let (Some(name), Some(stat)) = (read("comm"), read("schedstat")) else {
                continue;
            };
            let nanos = stat
                .split(' ')
                .next()
                .and_then(|text| text.parse::<f64>().ok());
            let id = task.file_name().to_string_lossy().parse();
            if let (Some(nanos), Ok(id)) = (nanos, id) {
                times.insert(id, (name.trim_end().to_owned(), nanos / 1e9));
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    times
}
