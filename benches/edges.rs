//! What layer `call-edge` costs when it is alone. Measures, never fails on a number.
//!
//! `cargo bench --bench edges [-- PAIRS [PAUSE_US]]`: a program does the same work with the agent
//! and without, in turns, once at a thousand samples a second and once as fast as the sampler can,
//! or with the pause given. Printed are
//!
//! * how many stacks were judged per second of the CPU time that judging took;
//! * how many times the CPU time of its own the program's thread took, with what the signals
//!   and the classes' reading cost it; this is the program's speed, whatever else the machine does;
//! * the sampler's CPU time as a share of the program's, which is another core's.
//!
//! `JAVA_HOME` names the JDK, else the newest found is taken.

use oracle::Hooking;
use oracle::record::{Config, EdgeCounts, RECORDS_FILE, Record};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Pauses between two samples, in microseconds: about a thousand a second, and none.
const PAUSES: [u64; 2] = [900, 0];

/// A program of one thread and its work: so long that the start of the VM is a small part.
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

/// What one run took, in seconds of CPU time.
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
        // Whoever comes second meets a warmer machine.
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

/// A median, and the numbers between which that of all runs lies with 95 % confidence, whatever
/// their distribution: so many of the numbers are below it as heads fall in as many tosses of a
/// coin. With fewer than six numbers these are the least and the greatest.
struct Median {
    value: f64,
    low: f64,
    high: f64,
}

impl Median {
    fn of(mut numbers: Vec<f64>) -> Option<Median> {
        numbers.sort_by(f64::total_cmp);
        let count = numbers.len();
        // The share of tosses with less than `rank` heads, for each rank.
        let mut heads = 0.5f64.powi(count as i32);
        let mut fewer = 0.0;
        let mut rank = 0;
        while rank < count / 2 && fewer + heads <= 0.025 {
            fewer += heads;
            heads *= (count - rank) as f64 / (rank + 1) as f64;
            rank += 1;
        }
        let rank = rank.max(1);
        Some(Median {
            value: *numbers.get(count / 2)?,
            low: *numbers.get(rank - 1)?,
            high: *numbers.get(count - rank)?,
        })
    }
}

/// Runs the program to its end, with the agent if there is a pause between its samples.
fn run(java: &Path, dir: &Path, program: &[&str], pause_us: Option<u64>) -> Took {
    let installed = java_fixtures::write_to(dir).expect("our classes");
    let records = dir.join(RECORDS_FILE);
    let _ = fs::remove_file(&records);
    let mut command = Command::new(java);
    if let Some(pause_us) = pause_us {
        let path = dir.join("config.json");
        let config = serde_json::to_vec(&config(dir, pause_us)).expect("plain data");
        fs::write(&path, config).expect("it is ours");
        let agent = scenarios::library::AGENT.find().expect("the agent");
        command.arg(format!("-agentpath:{}={}", agent.display(), path.display()));
    }
    let child = command
        .arg("-cp")
        .arg(&installed.fixtures_jar)
        .args(program)
        .stdout(Stdio::null())
        .spawn();
    let times = cpu_times(child.expect("the JVM starts"));
    let of = |name| {
        times
            .values()
            .filter(move |(own, _)| own == name)
            .map(|(_, s)| s)
    };
    let records = fs::read_to_string(records).unwrap_or_default();
    let mut edges = records
        .lines()
        .filter_map(|line| match serde_json::from_str(line) {
            Ok(Record::Edges(edges)) => Some(edges),
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

fn config(dir: &Path, pause_us: u64) -> Config {
    Config {
        run_dir: dir.into(),
        trace_class: PathBuf::new(),
        seed: 1,
        hooks: Hooking::None,
        include: vec![],
        exclude: vec![],
        check: vec![],
        probability: 1.0,
        check_share: 0.0,
        sample_interval_us: pause_us,
        gst_every: 0,
        edges: true,
        evidence_limit: 20,
        sabotage: None,
        sabotage_one_in: 10,
        bare: false,
        lies: None,
    }
}
