//! Layer `asgct-event`, on programs as they are.

mod support;

use oracle::Layer;
use oracle::record::{ClassData, FlagOrigin, SLOTS_FILE, VmFlag};
use oracle::report::{Exit, Report};
use oracle::tally::{Tally, slots};
use scenarios::jdk::Jdk;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Deadline, jdks, seeds};

/// Runs fixtures without hooks; returns the report.
fn run(jdk: &Path, seed: u64, jvm_args: &[&str], names: &[&str], options: &[&str]) -> Report {
    let scenario = format!(
        "name = \"events\"\nlayers = [\"asgct-event\"]\n\
         [sampling]\ncheck_share = 0.3\nevidence_limit = 100000\n\
         [budget]\nasgct-event = 1\n\
         [[program]]\nname = \"program\"\nhooks = \"none\"\nbaseline = false\njvm_args = {jvm_args:?}\n\
         fixtures = {{ names = {names:?}, seconds = 4 }}\n"
    );
    let ran = support::run_well(jdk, &scenario, seed, options);
    ran.report
}

/// Whether a JDK has JDK-8302320, which was corrected in 17.0.8 and in 21; `None` where this test does not
/// know.
fn cuts_at_linkers(version: &str) -> Option<bool> {
    let mut numbers = version.split('.').map(|number| number.parse::<u32>().ok());
    let (feature, update) = (numbers.next()??, numbers.nth(1).flatten().unwrap_or(0));
    match (feature, update) {
        (17, ..7) => Some(true),
        (17, 9..) | (21.., _) => Some(false),
        _ => None,
    }
}

/// JDKs with and without the mistake: those of all tests, and the homes in STACKWITNESS_TEST_MORE_JDKS, with colons
/// between them.
fn more_jdks() -> Vec<PathBuf> {
    let more = std::env::var_os("STACKWITNESS_TEST_MORE_JDKS").unwrap_or_default();
    let mut homes = jdks();
    let more = std::env::split_paths(&more).filter(|home| !home.as_os_str().is_empty());
    homes.extend(more);
    homes
}

/// What the layers count of the loop that calls method handles, with hooks of this kind.
fn at_linkers(jdk: &Path, seed: u64, hooks: &str, layers: &[Layer]) -> BTreeMap<Layer, Tally> {
    let names: Vec<_> = layers.iter().map(|layer| layer.name()).collect();
    let budgets = names.iter().map(|name| format!("{name} = 1\n"));
    let scenario = format!(
        "name = \"linkers\"\nlayers = {names:?}\n[budget]\n{}[sampling]\ncheck_share = 0.3\ngst_every = 2\n\
         [[program]]\nname = \"loop\"\nhooks = \"{hooks}\"\nbaseline = false\njvm_args = [\"-Xint\"]\n\
         fixtures = {{ names = [\"method-handles-interpreted\"], seconds = 4 }}\n",
        budgets.collect::<String>()
    );
    let report = support::run_scenario(jdk, &scenario, seed, &[]).report;
    assert_eq!(report.runs[0].exit, Exit::Code(0), "{jdk:?}");
    let counts = report.layers.iter();
    counts.map(|of| (of.layer, of.tally())).collect()
}

/// The walker's mistake needs a callee without local variables of its own. It is found where the walker has it, by
/// each layer of a program without hooks, and with exact hooks, which leave the callee's frame alone.
#[test]
fn a_stack_that_is_cut_at_a_linker_is_found_where_the_walker_cuts() {
    let runs = [
        (
            "none",
            vec![Layer::AsgctEvent, Layer::AsgctGst, Layer::CallEdge],
        ),
        ("exact", vec![Layer::AsgctSafepoint]),
    ];
    let mut has_mistake = false;
    for home in more_jdks() {
        let jdk = Jdk::at(&home, "a test").unwrap();
        let Some(cuts) = jdk.version().and_then(cuts_at_linkers) else {
            println!("skipped: nobody knows whether {home:?} has JDK-8302320");
            continue;
        };
        has_mistake |= cuts;
        for (hooks, layers) in &runs {
            let mut sums = BTreeMap::<Layer, Tally>::new();
            let has_enough = |sums: &BTreeMap<Layer, Tally>| {
                let mut sums = layers.iter().map(|layer| sums.get(layer));
                sums.all(|sum| sum.is_some_and(|sum| sum.decided() >= 300))
            };
            for seed in seeds(&format!("{home:?}, {hooks}: waiting for checks")) {
                for (layer, tally) in at_linkers(&home, seed, hooks, layers) {
                    *sums.entry(layer).or_default() += &tally;
                }
                if has_enough(&sums) {
                    break;
                }
            }
            for layer in layers {
                let sum = &sums[layer];
                let (decided, cut) = (sum.decided(), sum.truncated);
                println!(
                    "{home:?}, {layer}: {cut} of {decided} stacks are cut, {} wrong",
                    sum.wrong
                );
                assert_eq!(cut > 0, cuts, "{home:?}, {layer}: {sum:?}");
            }
        }
    }
    if !has_mistake {
        println!(
            "skipped: no JDK with JDK-8302320, such as 17.0.2; STACKWITNESS_TEST_MORE_JDKS may name its home"
        );
    }
}

/// Faulty answers show in which events the walkers are asked.
#[test]
fn every_event_makes_checks() {
    const EVENTS: [&str; 9] = [
        "ClassLoad",
        "ClassPrepare",
        "MonitorContendedEnter",
        "MonitorContendedEntered",
        "MonitorWait",
        "MonitorWaited",
        "SampledObjectAlloc",
        "VmObjectAlloc",
        "call of a native method",
    ];
    for jdk in jdks() {
        let mut seen = BTreeSet::new();
        for seed in seeds(&format!("{jdk:?}: waiting for events")) {
            let names = [
                "held-monitors",
                "wait-notify",
                "class-loading",
                "native-calls",
            ];
            let options = ["--fault", "top-only:asgct-event:2"];
            let report = run(&jdk, seed, &[], &names, &options);
            let at = report.mismatches.into_iter();
            seen.extend(at.filter_map(|mismatch| mismatch.evidence.at));
            if seen.len() >= EVENTS.len() {
                break;
            }
            println!("{jdk:?}: {seen:?}");
        }
        assert!(seen.iter().map(String::as_str).eq(EVENTS), "{seen:?}");
    }
}

/// GetStackTrace in place of AsyncGetCallTrace differs from itself nowhere.
#[test]
fn get_stack_trace_agrees_with_itself() {
    const NAMES: [&str; 6] = [
        "contended",
        "wait-notify",
        "class-loading",
        "native-calls",
        "streams",
        "serialization",
    ];
    for jdk in jdks() {
        let deadline = Deadline::new(format!("{jdk:?}: waiting for checks"));
        let mut sum = Tally::default();
        while sum.decided() < wanted_checks() {
            deadline.check();
            sum += &compare_with_itself(&jdk, &NAMES);
        }
        println!("{jdk:?}: {sum:?}");
        assert_eq!((sum.mismatches(), sum.errors()), (0, 0), "{jdk:?}");
        assert!(sum.unverifiable * 1000 < sum.checks(), "{jdk:?}: {sum:?}");
    }
}

/// STACKWITNESS_TEST_CHECKS asks for more.
fn wanted_checks() -> u64 {
    let given = std::env::var("STACKWITNESS_TEST_CHECKS");
    given.map_or(5000, |checks| checks.parse().expect("a number"))
}

/// What a run has counted in which GetStackTrace takes the place of AsyncGetCallTrace.
fn compare_with_itself(jdk: &Path, names: &[&str]) -> Tally {
    let dir = tempfile::tempdir().unwrap();
    let installed = java_fixtures::write_to(dir.path()).unwrap();
    let config = serde_json::json!({
        "run_dir": dir.path(), "trace_class": "", "seed": 1, "hooks": "none",
        "events": true, "gst_twice": true,
        "sampling": {
            "check_share": 0.5, "interval_us": 1000, "gst_every": 0, "evidence_limit": 1, "native_calls": true,
        },
    });
    let path = dir.path().join("config.json");
    fs::write(&path, config.to_string()).unwrap();
    let agent = libraries::AGENT.place(dir.path()).unwrap();
    let natives = libraries::FIXTURE_NATIVES.place(dir.path()).unwrap();
    let mut java = Command::new(jdk.join("bin/java"));
    java.arg(format!("-agentpath:{}={}", agent.display(), path.display()))
        .arg(format!(
            "-Dstackwitness.fixture.natives={}",
            natives.display()
        ))
        .arg("-cp")
        .arg(&installed.fixtures_jar)
        .args([java_fixtures::MAIN_CLASS, "--millis", "1000"]);
    let output = support::run(java.args(names));
    assert_eq!(output.code, Some(0), "{jdk:?}: {output:#?}");
    let bytes = fs::read(dir.path().join(SLOTS_FILE)).unwrap();
    Tally::from_slots(&slots(&bytes), Layer::AsgctEvent)
}

/// Arguments of `java` for a short program, behind its class path.
const LAMBDAS: [&str; 4] = [java_fixtures::MAIN_CLASS, "--millis", "2000", "lambdas"];

/// A short program, as it is, in all layers of such programs.
fn whole(jdk: &Path, java_args: &[&str]) -> oracle::report::Run {
    let program = [java_args, &LAMBDAS].concat();
    let scenario = format!(
        "name = \"archive\"\n[[program]]\nname = \"program\"\nhooks = \"none\"\nbaseline = false\n\
         java = {program:?}\n"
    );
    let mut report = support::run_well(jdk, &scenario, 1, &[]).report;
    report.runs.remove(0)
}

/// With `-Xshare:on` the JVM ends if the archive cannot be used. Class files judge all the same.
#[test]
fn class_data_sharing_stays_on() {
    let dir = tempfile::tempdir().unwrap();
    let installed = java_fixtures::write_to(dir.path()).unwrap();
    let jar = installed.fixtures_jar.display().to_string();
    for jdk in jdks() {
        if !jdk.join("lib/server/classes.jsa").exists() {
            println!("skipped: {jdk:?} has no archive of its classes");
            continue;
        }
        for (option, expected) in [
            ("-Xshare:on", ClassData::Archive),
            ("-Xshare:off", ClassData::Unshared),
        ] {
            let deadline = Deadline::new(format!("{jdk:?}: waiting for stacks"));
            let (mut true_stacks, mut walks) = (0, 0);
            while true_stacks < 10 || walks < 100 {
                deadline.check();
                let of_run = whole(&jdk, &[option, "-Xmx256m", "-cp", &jar]);
                assert_eq!(of_run.class_data, Some(expected), "{jdk:?}");
                let given = VmFlag {
                    name: "MaxHeapSize".into(),
                    value: (256 << 20).to_string(),
                    set_by: FlagOrigin::CommandLine,
                };
                assert!(of_run.flags.contains(&given), "{jdk:?}: {:?}", of_run.flags);
                let (gst, asgct) = (&of_run.edges.gst, &of_run.edges.asgct);
                let is_impossible = |finding: &&String| finding.starts_with("impossible");
                let impossible: Vec<_> = gst.edges.keys().filter(is_impossible).collect();
                assert!(impossible.is_empty(), "{jdk:?}: {impossible:?}");
                true_stacks += gst.stacks;
                walks += asgct.stacks;
            }
        }
    }
}

/// With `-XX:AOTMode=on` the JVM ends if the cache cannot be used.
#[test]
fn an_aot_cache_stays_in_use() {
    let dir = tempfile::tempdir().unwrap();
    let installed = java_fixtures::write_to(dir.path()).unwrap();
    let jar = installed.fixtures_jar.display().to_string();
    for home in jdks() {
        if Jdk::at(&home, "a test").unwrap().feature() < Some(25) {
            println!("skipped: {home:?} makes no AOT cache in one step");
            continue;
        }
        let cache = dir.path().join("lambdas.aot").display().to_string();
        let mut java = Command::new(home.join("bin/java"));
        java.arg(format!("-XX:AOTCacheOutput={cache}"));
        let output = support::run(java.args(["-cp", &jar]).args(LAMBDAS));
        assert!(Path::new(&cache).exists(), "{home:?}: {output:?}");
        let of_run = whole(
            &home,
            &[
                &format!("-XX:AOTCache={cache}"),
                "-XX:AOTMode=on",
                "-cp",
                &jar,
            ],
        );
        assert_eq!(of_run.class_data, Some(ClassData::AotCache), "{home:?}");
    }
}
