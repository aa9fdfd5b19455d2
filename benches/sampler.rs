//! The speed of the sampler. Measures, and never fails on a number.
//!
//! * `cargo bench --bench sampler`: checks per second, compared with a bare loop of signal and
//!   walk, in turns of a second within one run, as medians;
//! * `cargo bench --bench sampler -- ten-million`: how long 10,000,000 async checks take, with
//!   the target's memory every ten seconds.
//!
//! `JAVA_HOME` names the JDK. Without it the newest JDK found is used.

mod support;

use oracle::pace::Pace;
use oracle::record::{Config, SLOTS_FILE};
use oracle::tally::{Tally, slots};
use oracle::{Hooking, Layer};
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use support::Median;

/// A program that only computes, in one thread.
const PROGRAM: &str = "math-parser";

/// How long the comparison takes.
const COMPARISON: Duration = Duration::from_secs(30);

const CHECKS: u64 = 10_000_000;

/// After this time the run ends, however many checks it has made.
const PATIENCE: Duration = Duration::from_secs(600);

fn main() {
    let Ok(jdk) = scenarios::jdk::Jdk::find(None) else {
        println!("skipped: no JDK found");
        return;
    };
    let dir = tempfile::tempdir().expect("a folder for the run");
    let ten_million = std::env::args().any(|arg| arg == "ten-million");
    let time = if ten_million { PATIENCE } else { COMPARISON };
    let mut target = start(&jdk.java(), dir.path(), time, !ten_million);
    if ten_million {
        count(&mut target, dir.path())
    } else {
        compare(&mut target, dir.path())
    }
    let _ = target.kill();
    let _ = target.wait();
}

fn start(java: &Path, dir: &Path, time: Duration, bare: bool) -> Child {
    let installed = java_fixtures::write_to(dir).expect("our classes");
    let mut config = Config {
        trace_class: installed.trace_exact,
        hooks: Hooking::Exact,
        edges: false,
        turns: bare.then_some(Pace::Loop),
        ..support::edges_alone(dir, 0)
    };
    config.sampling.check_share = 0.01;
    support::java(java, dir, Some(&config))
        // The heap has its full size from the start, so that its growth hides nothing.
        .args(["-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch"])
        .args([java_fixtures::MAIN_CLASS, PROGRAM, "--millis"])
        .arg(time.as_millis().to_string())
        .stdout(Stdio::null())
        .spawn()
        .expect("the JVM starts")
}

fn compare(target: &mut Child, dir: &Path) {
    let _ = target.wait();
    let paced = support::paced(dir);
    let rates = |pace| {
        let of_it = paced.iter().filter(|paced| paced.pace == pace);
        let rates = of_it.map(|paced| paced.rate()).collect::<Vec<_>>();
        println!(
            "{pace:?}: {}",
            rates
                .iter()
                .map(|rate| format!("{rate:.0} "))
                .collect::<String>()
        );
        rates
    };
    let (bare, checks) = (rates(Pace::Loop), rates(Pace::Checks));
    // Each turn is compared with its neighbour, because the program warms up in the first turns.
    let pairs = support::neighbours(&paced, Pace::Loop);
    let ratios = pairs.map(|(bare, checks)| checks.rate() / bare.rate());
    let medians = [bare, checks, ratios.collect()].map(Median::of);
    match medians {
        [Some(bare), Some(checks), Some(ratio)] => println!(
            "{PROGRAM}: bare loop {:.0}/s, sampler {:.0}/s, ratio {:.3} (medians; 95 %: {:.3} to {:.3})",
            bare.value, checks.value, ratio.value, ratio.low, ratio.high
        ),
        _ => println!("{PROGRAM}: no data"),
    }
}

fn count(target: &mut Child, dir: &Path) {
    let start = Instant::now();
    println!("seconds  async checks  checks/s  RSS MiB");
    let mut next = Duration::from_secs(10);
    loop {
        let (checks, elapsed) = (async_checks(dir), start.elapsed());
        let ended = !matches!(target.try_wait(), Ok(None));
        let done = checks >= CHECKS || ended;
        if done || elapsed >= next {
            let rate = checks as f64 / elapsed.as_secs_f64();
            let rss = rss_mib(target.id()).map_or("-".into(), |mib| mib.to_string());
            println!(
                "{:7.1}  {checks:12}  {rate:8.0}  {rss:>7}",
                elapsed.as_secs_f64()
            );
            next += Duration::from_secs(10);
        }
        if done {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn async_checks(dir: &Path) -> u64 {
    let bytes = fs::read(dir.join(SLOTS_FILE)).unwrap_or_default();
    Tally::from_slots(&slots(&bytes), Layer::AsgctAsync).checks()
}

/// Resident memory, from `proc_pid_status(5)`.
fn rss_mib(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024)
}
