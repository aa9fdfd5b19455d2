//! The common parts of the benchmarks.

#![allow(dead_code, reason = "not every bench needs all of it")]

use oracle::Hooking;
use oracle::pace::{Pace, Paced};
use oracle::record::{CLAIM_FILE, Config, RECORDS_FILE, Record, Sampling};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Layer `call-edge` alone, with this pause between two samples.
pub fn edges_alone(dir: &Path, pause_us: u64) -> Config {
    Config {
        run_dir: dir.into(),
        trace_class: PathBuf::new(),
        seed: 1,
        layers: oracle::Layer::usual(),
        hooks: Hooking::None,
        edges: true,
        events: false,
        profiler: None,
        walker: None,
        sampling: Sampling {
            interval_us: pause_us,
            gst_every: 0,
            check_share: 0.0,
            evidence_limit: 20,
            native_calls: false,
            ..Sampling::default()
        },
        gst_twice: false,
        turns: None,
    }
}

/// `java` with the fixtures as its class path, and with the agent if `agent` is given.
pub fn java(java: &Path, dir: &Path, agent: Option<&Config>) -> Command {
    let installed = java_fixtures::write_to(dir).expect("our classes");
    let mut command = Command::new(java);
    if let Some(config) = agent {
        let path = dir.join("config.json");
        let config = serde_json::to_vec(config).expect("plain data");
        fs::write(&path, config).expect("it is ours");
        // The earlier run in this folder is over.
        let _ = fs::remove_file(dir.join(CLAIM_FILE));
        let agent = libraries::AGENT.place(dir).expect("the agent");
        command.arg(format!("-agentpath:{}={}", agent.display(), path.display()));
    }
    command.arg("-cp").arg(&installed.fixtures_jar);
    command
}

/// Seconds of CPU time of the children that have ended, by all their threads (`proc_pid_stat(5)`: cutime and cstime, in
/// ticks, of which Linux shows 100 a second).
pub fn cpu_of_children() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux has it");
    // The second field, in brackets, may hold spaces.
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let fields = behind_name.split_whitespace().skip(13).take(2);
    fields
        .map(|ticks| ticks.parse::<f64>().unwrap_or(f64::NAN))
        .sum::<f64>()
        / 100.0
}

/// The agent's records.
pub fn records(dir: &Path) -> Vec<Record> {
    let text = fs::read_to_string(dir.join(RECORDS_FILE)).unwrap_or_default();
    let records = text.lines().map(serde_json::from_str);
    records.filter_map(Result::ok).collect()
}

/// All turns, in order.
pub fn paced(dir: &Path) -> Vec<Paced> {
    let paced = records(dir).into_iter().filter_map(|record| match record {
        Record::Paced(paced) => Some(paced),
        _ => None,
    });
    paced.collect()
}

/// Each turn of the sampler with the turn of `other` before it.
pub fn neighbours(paced: &[Paced], other: Pace) -> impl Iterator<Item = (&Paced, &Paced)> {
    let pairs = paced.windows(2).map(|pair| (&pair[0], &pair[1]));
    pairs.filter(move |(before, after)| before.pace == other && after.pace == Pace::Checks)
}

/// A median with its 95 % confidence interval, for any distribution: as many of the numbers are
/// below the true median as there are heads in as many tosses of a coin. With fewer than six
/// numbers the interval has the least and the greatest number.
pub struct Median {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Median {
    pub fn of(mut numbers: Vec<f64>) -> Option<Median> {
        numbers.sort_by(f64::total_cmp);
        let count = numbers.len();
        // The probability of less than `rank` heads, for each rank.
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
