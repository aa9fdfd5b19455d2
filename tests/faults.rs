//! Proof that lies are caught: walkers and hooks that lie on purpose, in every layer. Each
//! lie must be reported in its layer under the right verdict; where the layer's truth cannot
//! see it, the agent computes why from the lie, the walk and the truth (see `oracle::mutants`).

mod support;

use oracle::mutants::{Detection, FaultKind, Unseen};
use oracle::record::{FaultCount, RECORDS_FILE, Record};
use oracle::report::{Exit, Report};
use oracle::tally::Tally;
use oracle::{Hooking, Layer};
use scenarios::jdk::Jdk;
use std::path::{Path, PathBuf};
use support::jdks;

/// How much is asked of a test in which all walkers lie.
struct Wanted {
    /// One of so many checks is a lie.
    one_in: u64,
    /// So many checks in each of these layers.
    checks: u64,
    layers: &'static [Layer],
    /// One of so many samples is compared with GetStackTrace.
    gst_every: u32,
}

fn wanted(hooks: Hooking) -> Wanted {
    let (one_in, checks) = (1_000, 100_000);
    match hooks {
        // Light hooks check at the next push after a sample only: fewer checks, more of them lies.
        Hooking::Light => Wanted {
            one_in: 100,
            checks: 5_000,
            layers: &[Layer::Gst, Layer::AsgctSafepoint],
            gst_every: 8,
        },
        Hooking::Exact => Wanted {
            one_in,
            checks,
            layers: &[
                Layer::Gst,
                Layer::AsgctSafepoint,
                Layer::AsgctAsync,
                Layer::AsgctGst,
            ],
            gst_every: 1,
        },
        Hooking::None => Wanted {
            one_in,
            checks,
            layers: &[Layer::CallEdge],
            gst_every: 8,
        },
    }
}

/// A busy machine takes several runs for them, but not more than these.
const RUNS: u64 = 12;

/// Our own programs of these tests.
fn fixtures(seconds: u32) -> String {
    let names = [
        "mutual-recursion",
        "exceptions-up",
        "lambdas",
        "contended",
        "math-parser",
        "parallel-streams",
    ];
    format!("fixtures = {{ names = {names:?}, seconds = {seconds} }}")
}

fn scenario(program: &str, gst_every: u32) -> String {
    format!(
        r#"
        name = "lies"
        [budget]
        asgct-safepoint = 1
        asgct-async = 1
        asgct-gst = 1
        call-edge = 1
        [sampling]
        check_share = 0.5
        no_pause = true
        gst_every = {gst_every}
        evidence_limit = 5
        [[program]]
        name = "program"
        {program}
        "#
    )
}

/// Runs `program` with `options`; returns the report and what came of the lies.
fn lie(jdk: &Path, program: &str, seed: u64, options: &[&str]) -> (Report, Vec<FaultCount>) {
    run_scenario(jdk, &scenario(program, 8), seed, options)
}

fn run_scenario(
    jdk: &Path,
    scenario: &str,
    seed: u64,
    options: &[&str],
) -> (Report, Vec<FaultCount>) {
    let ran = support::run_scenario(jdk, scenario, seed, options);
    let report = ran.report;
    let run = &report.runs[0];
    assert_eq!(run.exit, Exit::Code(0), "{jdk:?}");
    assert_eq!(run.invalid, None, "{jdk:?}");
    let records = std::fs::read_to_string(ran.out.join(&run.dir).join(RECORDS_FILE)).unwrap();
    let mut lies = records
        .lines()
        .filter_map(|line| match serde_json::from_str(line).unwrap() {
            Record::Faults(lies) => Some(lies),
            _ => None,
        });
    (report, lies.next_back().unwrap_or_default())
}

fn sum(lies: &[FaultCount], which: impl Fn(&FaultCount) -> bool) -> u64 {
    let chosen = lies.iter().filter(|lie| which(lie));
    chosen.map(|lie| lie.count).sum()
}

fn mismatches(report: &Report, layer: Layer) -> u64 {
    let counts = report.layers.iter().find(|counts| counts.layer == layer);
    counts.unwrap().tally().mismatches()
}

/// At least 99 % of the lies in `layer` were caught or have a reason; returns how many there
/// were and how many of them were caught.
fn assert_caught(lies: &[FaultCount], layer: Layer) -> (u64, u64) {
    let told = sum(lies, |lie| lie.layer == layer);
    let caught = sum(lies, |lie| {
        lie.layer == layer && lie.outcome == Detection::Caught
    });
    let explained = sum(lies, |lie| {
        lie.layer == layer && matches!(lie.outcome, Detection::Explained(_))
    });
    let good = 100 * (caught + explained) >= 99 * told;
    assert!(good, "{layer}: {lies:#?}");
    println!("{layer}: {told} lies, {caught} caught, {explained} explained");
    (told, caught)
}

/// All of `jdks`, with each way to keep the trace stack.
fn hooked(jdks: Vec<PathBuf>) -> Vec<(PathBuf, Hooking)> {
    let each = |jdk: PathBuf| [(jdk.clone(), Hooking::Exact), (jdk, Hooking::Light)];
    jdks.into_iter().flat_map(each).collect()
}

fn with(hooks: Hooking, program: &str) -> String {
    format!("{program}\nhooks = \"{hooks}\"")
}

#[test]
fn lies_of_walkers_are_caught() {
    for jdk in jdks() {
        for hooks in [Hooking::Exact, Hooking::Light, Hooking::None] {
            println!("{}, hooks: {hooks}", jdk.display());
            lies_are_caught(&jdk, hooks);
        }
    }
}

fn lies_are_caught(jdk: &Path, hooks: Hooking) {
    let wanted = wanted(hooks);
    let scenario = scenario(&with(hooks, &fixtures(10)), wanted.gst_every);
    let all = format!("all:all:{}", wanted.one_in);
    let (mut tallies, mut lies) = ([(); Layer::ALL.len()].map(|()| Tally::default()), vec![]);
    for seed in 1..=RUNS {
        let (report, of_run) = run_scenario(jdk, &scenario, seed, &["--fault", &all]);
        for counts in &report.layers {
            tallies[counts.layer.index()] += &counts.tally();
        }
        lies.extend(of_run);
        let mut layers = wanted.layers.iter();
        if layers.all(|layer| tallies[layer.index()].checks() >= wanted.checks) {
            break;
        }
    }
    for lie in &lies {
        println!("{lie:?}");
    }
    for &layer in wanted.layers {
        let checks = tallies[layer.index()].checks();
        println!("{layer}: {checks} checks");
        assert!(checks >= wanted.checks, "{jdk:?}: {checks} in {layer}");
        let told = |kind: FaultKind| sum(&lies, |l| l.layer == layer && l.kind == kind.name());
        let missing: Vec<_> = FaultKind::ALL
            .into_iter()
            .filter(|&k| told(k) == 0)
            .collect();
        assert!(missing.is_empty(), "{jdk:?}: no {missing:?} in {layer}");
    }
    for layer in Layer::ALL {
        let (told, caught) = assert_caught(&lies, layer);
        // Two walks at one instant hide nothing.
        if layer == Layer::AsgctSafepoint {
            assert_eq!(caught, told, "{jdk:?}: {lies:#?}");
        }
    }
    // Nothing but the lies is reported in the layers on which the others rest.
    let reported = sum(&lies, |lie| {
        lie.layer == Layer::Gst
            && lie.outcome == Detection::Caught
            && lie.kind != FaultKind::Error.name()
    });
    let mismatches = |layer: Layer| tallies[layer.index()].mismatches();
    assert_eq!(mismatches(Layer::Gst), reported, "{jdk:?}");
    assert_eq!(mismatches(Layer::Ground), 0, "{jdk:?}");
}

/// Most of what may change until the next safepoint the class files forbid.
#[test]
fn lies_of_walkers_in_signals_are_caught() {
    for (jdk, hooks) in hooked(jdks()) {
        let (_, lies) = lie(
            &jdk,
            &with(hooks, &fixtures(5)),
            1,
            &["--fault", "all:asgct-async,asgct-gst:20"],
        );
        let (told, _) = assert_caught(&lies, Layer::AsgctAsync);
        assert!(told >= 100, "{jdk:?}: {told} lies");
        let (told, caught) = assert_caught(&lies, Layer::AsgctGst);
        assert!(told >= 10, "{jdk:?}: {told} lies");
        assert!(2 * caught >= told, "{jdk:?}: {lies:#?}");
    }
}

/// A virtual thread has a trace stack of its own, above that of its carrier.
#[test]
fn lies_of_walkers_in_virtual_threads_are_caught() {
    let have = |jdk: &PathBuf| Jdk::at(jdk, "a test").unwrap().feature() >= Some(21);
    let (have, have_not): (Vec<_>, Vec<_>) = jdks().into_iter().partition(have);
    println!("without virtual threads: {have_not:?}");
    for (jdk, hooks) in hooked(have) {
        println!("{}, {hooks} hooks", jdk.display());
        let program = "fixtures = { names = [\"virtual-threads-10000\"], seconds = 10 }";
        let options = ["--fault", "all:all:100"];
        let (report, lies) = lie(&jdk, &with(hooks, program), 1, &options);
        for lie in &lies {
            println!("{lie:?}");
        }
        for (layer, least) in [
            (Layer::Gst, 100),
            (Layer::AsgctSafepoint, 100),
            (Layer::AsgctAsync, 20),
            (Layer::AsgctGst, 0),
        ] {
            let (told, _) = assert_caught(&lies, layer);
            assert!(told >= least, "{jdk:?}: {told} lies in {layer}");
        }
        // They lay in virtual threads: elsewhere there is no carrier's part.
        let of_carrier = |lie: &FaultCount| lie.outcome == Detection::Explained(Unseen::Carrier);
        assert!(sum(&lies, of_carrier) > 0, "{jdk:?}");
        assert_eq!(mismatches(&report, Layer::Ground), 0, "{jdk:?}");
    }
}

/// The programs as they are, without hooks.
fn unhooked(jdk: &Path) -> Vec<(&'static str, String)> {
    let mut programs = vec![("fixtures", fixtures(8))];
    match jdk.join("bin/javac").exists() {
        true => programs.push(("javac", "javac = { seconds = 8 }".into())),
        false => println!("skipped: javac, which {} has not", jdk.display()),
    }
    let hooks = "\nhooks = \"none\"\nbaseline = false";
    let unhooked = programs.into_iter();
    unhooked
        .map(|(name, program)| (name, program + hooks))
        .collect()
}

/// Runs `program` until there are `enough` lies and so many stacks of GetStackTrace, which the
/// judge of edges is tested by: none of them is impossible.
fn lie_to_class_files(
    jdk: &Path,
    (name, program): (&str, &str),
    options: &[&str],
    enough: impl Fn(&[FaultCount]) -> bool,
) -> Vec<FaultCount> {
    const STACKS: u64 = 1000;
    let (mut stacks, mut lies) = (0, vec![]);
    for seed in 1..=RUNS {
        let (report, of_run) = lie(jdk, program, seed, options);
        let found = &report.runs[0].edges.gst;
        let is_impossible = |(finding, _): &(&String, _)| finding.starts_with("impossible");
        let impossible: Vec<_> = found.edges.iter().filter(is_impossible).collect();
        assert!(impossible.is_empty(), "{jdk:?} {name}: {impossible:?}");
        stacks += found.stacks;
        lies.extend(of_run);
        if stacks >= STACKS && enough(&lies) {
            break;
        }
    }
    println!("{} {name}: {stacks} true stacks", jdk.display());
    assert!(stacks >= STACKS, "{jdk:?} {name}: {stacks} true stacks");
    lies
}

/// How many lies the class files alone catch is a measurement: what they allow they allow. A
/// missing frame in the middle they mostly do not, unless only a recursion is shallower for it:
/// two of our programs call themselves directly, and with a frame less theirs are true stacks.
#[test]
fn class_files_alone_catch_missing_frames() {
    const MISSING: u64 = 300;
    for jdk in jdks() {
        for (name, program) in unhooked(&jdk) {
            let options = ["--fault", "all:call-edge,asgct-gst:3"];
            let of = |lies: &[FaultCount], kind: FaultKind, outcome: Option<Detection>| {
                sum(lies, |lie| {
                    lie.layer == Layer::CallEdge
                        && lie.kind == kind.name()
                        && outcome.is_none_or(|outcome| lie.outcome == outcome)
                })
            };
            let enough = |lies: &[FaultCount]| of(lies, FaultKind::DropMiddle, None) >= MISSING;
            let lies = lie_to_class_files(&jdk, (name, &program), &options, enough);
            assert_caught(&lies, Layer::AsgctGst);
            assert_caught(&lies, Layer::CallEdge);
            for kind in FaultKind::ALL {
                let told = of(&lies, kind, None);
                let caught = of(&lies, kind, Some(Detection::Caught));
                let recursion = of(&lies, kind, Some(Detection::Explained(Unseen::Recursion)));
                println!("{kind:<16}{caught:6} of {told:6}, {recursion:6} recursion");
                if kind == FaultKind::DropMiddle {
                    assert!(told >= MISSING, "{jdk:?} {name}: {told} missing frames");
                    let good = 100 * caught >= 80 * (told - recursion);
                    assert!(good, "{jdk:?} {name}: {lies:#?}");
                }
            }
        }
    }
}

#[test]
fn without_lies_no_true_stack_is_impossible() {
    for jdk in jdks() {
        for (name, program) in unhooked(&jdk) {
            let lies = lie_to_class_files(&jdk, (name, &program), &[], |_| true);
            assert_eq!(lies, [], "{jdk:?} {name}");
        }
    }
}

#[test]
fn lies_of_hooks_are_caught() {
    for jdk in jdks() {
        println!("{}", jdk.display());
        for sabotage in ["drop-pops", "double-pops", "drop-pushes"] {
            let options = ["--sabotage", sabotage, "--sabotage-one-in", "1000"];
            let (report, lies) = lie(&jdk, &fixtures(2), 1, &options);
            let (told, _) = assert_caught(&lies, Layer::Ground);
            assert!(told >= 100, "{jdk:?}: {told} {sabotage}");
            assert!(mismatches(&report, Layer::Ground) > 0, "{jdk:?}");
        }
    }
}

#[test]
fn without_lies_nothing_is_reported() {
    for jdk in jdks() {
        let (report, lies) = lie(&jdk, &fixtures(4), 1, &[]);
        assert_eq!(lies, [], "{jdk:?}");
        for layer in [Layer::Ground, Layer::Gst] {
            assert_eq!(mismatches(&report, layer), 0, "{jdk:?} {layer}");
        }
    }
}
