//! Whether the agent's memory stays level. Measures, and never fails on a number.
//!
//! `cargo bench --bench memory [-- MINUTES]`: two JVMs load and unload classes by thousands of class
//! loaders, and start threads by the ten thousand, one with exact hooks and one without the agent, for
//! 22 minutes or so many. The benchmark prints the resident set of both every half minute. The heap is
//! of one size and touched before, so that only the rest can grow.
//!
//! `JAVA_HOME` names the JDK. Without it the newest JDK found is used.

mod support;

use oracle::Hooking;
use oracle::record::Config;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// More rounds than end in an hour.
const ROUNDS: usize = 2000;

/// The time between two looks.
const PAUSE: Duration = Duration::from_secs(30);

fn main() {
    let Ok(jdk) = scenarios::jdk::Jdk::find(None) else {
        println!("skipped: no JDK found");
        return;
    };
    let mut numbers = std::env::args().filter_map(|arg| arg.parse::<u32>().ok());
    let minutes = numbers.next().unwrap_or(22);
    let dir = tempfile::tempdir().expect("a folder for the runs");
    let installed = java_fixtures::write_to(dir.path()).expect("our classes");
    let config = Config {
        hooks: Hooking::Exact,
        trace_class: installed.trace_exact,
        check_share: 0.05,
        gst_every: 8,
        ..support::edges_alone(dir.path(), 900)
    };
    let natives = libraries::FIXTURE_NATIVES.place(dir.path());
    let natives = natives.expect("the library of the fixtures");
    let start = |agent| -> Child {
        support::java(&jdk.java(), dir.path(), agent)
            .args(["-Xms128m", "-Xmx128m", "-XX:+AlwaysPreTouch"])
            .arg(format!(
                "-Dstackwitness.fixture.natives={}",
                natives.display()
            ))
            .arg(java_fixtures::MAIN_CLASS)
            .args(["class-unloading=10", "threads-10000=1"].repeat(ROUNDS))
            .stdout(Stdio::null())
            .spawn()
            .expect("the JVM starts")
    };
    let mut jvms = [start(Some(&config)), start(None)];
    let begin = Instant::now();
    for look in 1..=2 * minutes {
        thread::sleep((PAUSE * look).saturating_sub(begin.elapsed()));
        let [hooked, plain] = [&jvms[0], &jvms[1]].map(resident);
        println!(
            "{:.1} min: exact hooks {hooked}, plain {plain}",
            f64::from(look) / 2.0
        );
    }
    for jvm in &mut jvms {
        let _ = jvm.kill();
        let _ = jvm.wait();
    }
}

/// The resident set of a process.
fn resident(process: &Child) -> String {
    let status = Path::new("/proc")
        .join(process.id().to_string())
        .join("status");
    let status = fs::read_to_string(status).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.map_or("has ended".into(), |kilobytes| {
        format!("{:.1} MB", kilobytes / 1024.0)
    })
}
