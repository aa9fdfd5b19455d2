//! Whether the agent's memory stays level. Measures, and never fails on a number.
//!
//! `cargo bench --bench memory [-- MINUTES]`: three JVMs load and unload classes by thousands of class
//! loaders, and start threads by the ten thousand, for 22 minutes or so many: one with exact hooks, one
//! without an agent, and one with an agent that does nothing but have method ids made (`ids.c`). HotSpot
//! keeps the ids of unloaded classes, and AsyncGetCallTrace names only methods that have ids; our agent has them
//! made up to a limit. The benchmark prints the resident set of each every half minute, and how many fixtures each
//! has run. The heap is of one size and touched before, so that only the rest can grow.
//!
//! `JAVA_HOME` names the JDK. Without it the newest JDK found is used. Needs `cc`.

mod support;

use oracle::Hooking;
use oracle::record::Config;
use scenarios::jdk::Jdk;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

/// More rounds than end in an hour.
const ROUNDS: usize = 2000;

/// The time between two looks.
const PAUSE: Duration = Duration::from_secs(30);

/// A JVM, and the file that it writes a line to for each fixture that it has run.
struct Measured {
    name: &'static str,
    jvm: Child,
    output: PathBuf,
}

fn main() {
    let Ok(jdk) = Jdk::find(None) else {
        println!("skipped: no JDK found");
        return;
    };
    let mut numbers = std::env::args().filter_map(|arg| arg.parse::<u32>().ok());
    let minutes = numbers.next().unwrap_or(22);
    let dir = tempfile::tempdir().expect("a folder for the runs");
    let installed = java_fixtures::write_to(dir.path()).expect("our classes");
    let mut config = Config {
        hooks: Hooking::Exact,
        trace_class: installed.trace_exact,
        ..support::edges_alone(dir.path(), 900)
    };
    config.sampling.check_share = 0.05;
    config.sampling.gst_every = 8;
    let ids = ids_alone(&jdk, dir.path());
    let natives = libraries::FIXTURE_NATIVES.place(dir.path());
    let natives = natives.expect("the library of the fixtures");
    let start = |name, agent, args: &[String]| {
        let output = dir.path().join(format!("{name}.txt"));
        let jvm = support::java(&jdk.java(), dir.path(), agent)
            .args(args)
            .args(["-Xms128m", "-Xmx128m", "-XX:+AlwaysPreTouch"])
            .arg(format!(
                "-Dstackwitness.fixture.natives={}",
                natives.display()
            ))
            .arg(java_fixtures::MAIN_CLASS)
            .args(["class-unloading=10", "threads-10000=1"].repeat(ROUNDS))
            .stdout(File::create(&output).expect("a file"))
            .spawn()
            .expect("the JVM starts");
        Measured { name, jvm, output }
    };
    let mut all = vec![
        start("exact hooks", Some(&config), &[]),
        start("plain", None, &[]),
    ];
    if let Some(ids) = ids {
        let agent = format!("-agentpath:{}", ids.display());
        all.push(start("method ids alone", None, &[agent]));
    }
    let begin = Instant::now();
    for look in 1..=2 * minutes {
        thread::sleep((PAUSE * look).saturating_sub(begin.elapsed()));
        let looks: Vec<_> = all.iter().map(Measured::look).collect();
        println!("{:.1} min: {}", f64::from(look) / 2.0, looks.join(", "));
    }
    for Measured { jvm, .. } in &mut all {
        let _ = jvm.kill();
        let _ = jvm.wait();
    }
}

/// The agent that has method ids made; `None` where it cannot be built.
fn ids_alone(jdk: &Jdk, dir: &Path) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/support/ids.c");
    let include = jdk.home().join("include");
    let agent = dir.join("libids.so");
    let built = Command::new("cc")
        .args(["-std=gnu11", "-O1", "-shared", "-fPIC", "-o"])
        .arg(&agent)
        .arg(source)
        .arg(format!("-I{}", include.display()))
        .arg(format!("-I{}", include.join("linux").display()))
        .status();
    let is_built = built.is_ok_and(|status| status.success());
    if !is_built {
        println!(
            "skipped: an agent of method ids alone, because cc or the headers of the JDK are missing"
        );
    }
    is_built.then_some(agent)
}

impl Measured {
    /// Its resident set, and how many fixtures it has run.
    fn look(&self) -> String {
        let status = Path::new("/proc")
            .join(self.jvm.id().to_string())
            .join("status");
        let status = fs::read_to_string(status).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        let lines = fs::read_to_string(&self.output).unwrap_or_default();
        let done = lines.lines().count();
        kilobytes.map_or(format!("{} has ended", self.name), |kilobytes| {
            let megabytes = kilobytes / 1024.0;
            format!("{} {megabytes:.1} MB ({done} fixtures)", self.name)
        })
    }
}
