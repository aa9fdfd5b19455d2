//! Fault injection: walkers and hooks answer falsely on purpose, in every layer. Each fault must be
//! reported in its layer under the right verdict. Where the truth of the layer cannot show the fault,
//! the agent computes why from the faulty walk, the true walk and the truth (see `oracle::mutants`).

mod support;

use oracle::judge::Unseen;
use oracle::mutants::{Detection, FaultKind};
use oracle::record::FaultCount;
use oracle::report::Report;
use oracle::tally::Tally;
use oracle::{Hooking, LAYERS, Layer, Verdict, When};
use scenarios::jdk::Jdk;
use std::path::{Path, PathBuf};
use std::time::Duration;
use support::{Deadline, jdks, sum};

/// The requirements of a test in which all walkers answer falsely.
struct Wanted {
    /// One check of this many is faulty.
    one_in: u64,
    /// At least this many checks in each of these layers.
    checks: u64,
    layers: &'static [Layer],
    /// One sample of this many is compared with GetStackTrace.
    gst_every: u32,
}

fn wanted(hooks: Hooking) -> Wanted {
    let (one_in, checks) = (40, 10_000);
    match hooks {
        // Light hooks make checks only at the next push after a sample, so there are fewer checks,
        // and more of them are faulty.
        Hooking::Light => Wanted {
            one_in: 10,
            checks: 2_000,
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
            layers: &[Layer::AsgctEvent, Layer::CallEdge],
            gst_every: 8,
        },
    }
}

/// Seeds for one run after the other. A busy machine takes several runs for enough samples of
/// `what`; the deadline ends a hang.
fn seeds(what: &str) -> impl Iterator<Item = u64> {
    let deadline = Deadline::of(what, Duration::from_secs(15 * 60));
    (1..).inspect(move |_| deadline.check())
}

/// The fixtures of these tests.
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
        name = "faults"
        [budget]
        asgct-safepoint = 1
        asgct-event = 1
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
        baseline = false
        {program}
        "#
    )
}

/// Runs `program` with `options`. Returns the report and how the faults ended.
fn inject(jdk: &Path, program: &str, seed: u64, options: &[&str]) -> (Report, Vec<FaultCount>) {
    run_scenario(jdk, &scenario(program, 8), seed, options)
}

fn run_scenario(
    jdk: &Path,
    scenario: &str,
    seed: u64,
    options: &[&str],
) -> (Report, Vec<FaultCount>) {
    let ran = support::run_well(jdk, scenario, seed, options);
    let faults = support::faults_of(&ran);
    (ran.report, faults)
}

fn mismatches(report: &Report, layer: Layer) -> u64 {
    report.layer(layer).unwrap().tally().mismatches()
}

/// At least 99 % of the faults in `layer` were caught or have a reason. Returns how many faults
/// there were and how many were caught.
fn assert_caught(faults: &[FaultCount], layer: Layer) -> (u64, u64) {
    let injected = sum(faults, |fault| fault.layer == layer);
    let caught = sum(faults, |fault| {
        fault.layer == layer && fault.outcome == Detection::Caught
    });
    let explained = sum(faults, |fault| {
        fault.layer == layer && matches!(fault.outcome, Detection::Explained(_))
    });
    let good = 100 * (caught + explained) >= 99 * injected;
    assert!(good, "{layer}: {faults:#?}");
    println!("{layer}: {injected} faults, {caught} caught, {explained} explained");
    (injected, caught)
}

/// Each of `jdks` with each kind of hooks.
fn hooked(jdks: Vec<PathBuf>) -> Vec<(PathBuf, Hooking)> {
    let each = |jdk: PathBuf| [(jdk.clone(), Hooking::Exact), (jdk, Hooking::Light)];
    jdks.into_iter().flat_map(each).collect()
}

fn with(hooks: Hooking, program: &str) -> String {
    format!("{program}\nhooks = \"{hooks}\"")
}

#[test]
fn faults_of_walkers_are_caught() {
    for jdk in jdks() {
        for hooks in [Hooking::Exact, Hooking::Light, Hooking::None] {
            println!("{}, hooks: {hooks}", jdk.display());
            all_faults_are_caught(&jdk, hooks);
        }
    }
}

/// Whether at least one fault of each kind was injected in `layer`, apart from the kinds that take a
/// stack of a certain shape: these programs may have none. `docs/results/power.md` shows them.
fn has_every_kind(faults: &[FaultCount], layer: Layer) -> bool {
    let has = |kind: FaultKind| {
        let mut of_layer = faults.iter().filter(|fault| fault.layer == layer);
        of_layer.any(|fault| fault.kind == kind.name())
    };
    let may_lack = |&kind: &FaultKind| match kind {
        FaultKind::CutAtDepth | FaultKind::CutAtNative | FaultKind::DropNativeTop => true,
        // Only GetStackTrace is asked for parts of a stack.
        FaultKind::StartDepth | FaultKind::FrameCount | FaultKind::AnyDepth => layer != Layer::Gst,
        // Only AsyncGetCallTrace has codes of states.
        FaultKind::CodeOfOtherState => layer.row().walker != Some("asgct"),
        _ => false,
    };
    let kinds = FaultKind::ALL.into_iter();
    kinds.filter(|kind| !may_lack(kind)).all(has)
}

fn all_faults_are_caught(jdk: &Path, hooks: Hooking) {
    let wanted = wanted(hooks);
    let scenario = scenario(&with(hooks, &fixtures(4)), wanted.gst_every);
    let all = format!("all:all:{}", wanted.one_in);
    let (mut tallies, mut faults) = ([(); Layer::ALL.len()].map(|()| Tally::default()), vec![]);
    for seed in seeds("checks in all layers") {
        let (report, of_run) = run_scenario(jdk, &scenario, seed, &["--fault", &all]);
        for counts in &report.layers {
            tallies[counts.layer.index()] += &counts.tally();
        }
        faults.extend(of_run);
        let has_enough = |&layer: &Layer| {
            let checks = tallies[layer.index()].checks();
            checks >= wanted.checks && has_every_kind(&faults, layer)
        };
        if wanted.layers.iter().all(has_enough) {
            break;
        }
    }
    for fault in &faults {
        println!("{fault:?}");
    }
    for &layer in wanted.layers {
        let checks = tallies[layer.index()].checks();
        println!("{layer}: {checks} checks");
    }
    for layer in Layer::ALL {
        let (injected, caught) = assert_caught(&faults, layer);
        // Two walks at one instant leave no fault undetected.
        if matches!(layer, Layer::AsgctSafepoint | Layer::AsgctEvent) {
            assert_eq!(caught, injected, "{jdk:?}: {faults:#?}");
        }
    }
    // The layers on which the others rest report nothing but the faults.
    let reported = sum(&faults, |fault| {
        fault.layer == Layer::Gst && matches!(fault.verdict, Verdict::Wrong | Verdict::Truncated)
    });
    let mismatches = |layer: Layer| tallies[layer.index()].mismatches();
    assert_eq!(mismatches(Layer::Gst), reported, "{jdk:?}");
    assert_eq!(mismatches(Layer::Ground), 0, "{jdk:?}");
}

/// Class files forbid most of the faults that a movement until the next safepoint could hide.
#[test]
fn faults_of_walkers_in_signals_are_caught() {
    for (jdk, hooks) in hooked(jdks()) {
        let program = with(hooks, &fixtures(3));
        let options = ["--fault", "all:asgct-async,asgct-gst:20"];
        let mut faults = vec![];
        let in_layer = |faults: &[FaultCount], layer| sum(faults, |fault| fault.layer == layer);
        for seed in seeds("faults in signals") {
            faults.extend(inject(&jdk, &program, seed, &options).1);
            let (of_async, of_gst) = (
                in_layer(&faults, Layer::AsgctAsync),
                in_layer(&faults, Layer::AsgctGst),
            );
            if of_async >= 100 && of_gst >= 10 {
                break;
            }
        }
        assert_caught(&faults, Layer::AsgctAsync);
        let (injected, caught) = assert_caught(&faults, Layer::AsgctGst);
        assert!(2 * caught >= injected, "{jdk:?}: {faults:#?}");
    }
}

/// The layers of suspended threads that a run has unless the scenario says otherwise. `tests/thread_dumps` has the
/// others.
fn of_suspended() -> Vec<Layer> {
    let rows = LAYERS.iter().filter(|row| row.usual);
    let suspended = rows.filter(|row| row.when == When::Suspend);
    suspended.map(|row| row.layer).collect()
}

/// GetStackTrace and the other JVMTI walkers are also asked for another thread.
#[test]
fn faults_of_walkers_of_suspended_threads_are_caught() {
    let layers = of_suspended();
    let names: Vec<_> = layers.iter().map(|layer| layer.name()).collect();
    let fault = format!("all:{}:3", names.join(","));
    for (jdk, hooks) in hooked(jdks()) {
        let scenario = scenario(&with(hooks, &fixtures(3)), 4);
        let mut faults = vec![];
        for seed in seeds("faults in suspended threads") {
            faults.extend(run_scenario(&jdk, &scenario, seed, &["--fault", &fault]).1);
            let is_enough = |&layer| sum(&faults, |fault| fault.layer == layer) >= 50;
            if layers.iter().all(is_enough) {
                break;
            }
        }
        println!("{}, {hooks} hooks", jdk.display());
        for &layer in &layers {
            let (injected, caught) = assert_caught(&faults, layer);
            assert!(2 * caught >= injected, "{jdk:?}: {faults:#?}");
        }
    }
}

/// A virtual thread has a trace stack of its own, above that of its carrier.
#[test]
fn faults_of_walkers_in_virtual_threads_are_caught() {
    let have = |jdk: &PathBuf| Jdk::at(jdk, "a test").unwrap().feature() >= Some(21);
    let (have, have_not): (Vec<_>, Vec<_>) = jdks().into_iter().partition(have);
    println!("without virtual threads: {have_not:?}");
    for (jdk, hooks) in hooked(have) {
        println!("{}, {hooks} hooks", jdk.display());
        let program = "fixtures = { names = [\"virtual-threads-10000\"], seconds = 5 }";
        let options = ["--fault", "all:all:100"];
        let wanted = [
            (Layer::Gst, 100),
            (Layer::AsgctSafepoint, 100),
            (Layer::AsgctAsync, 20),
            (Layer::AsgctGst, 5),
        ];
        let mut faults = vec![];
        for seed in seeds("faults in virtual threads") {
            let (report, of_run) = inject(&jdk, &with(hooks, program), seed, &options);
            assert_eq!(mismatches(&report, Layer::Ground), 0, "{jdk:?}");
            faults.extend(of_run);
            let in_layer = |layer| sum(&faults, |fault| fault.layer == layer);
            let has_all = wanted
                .iter()
                .all(|&(layer, least)| in_layer(layer) >= least);
            if has_all {
                break;
            }
        }
        for fault in &faults {
            println!("{fault:?}");
        }
        for (layer, _) in wanted {
            assert_caught(&faults, layer);
        }
    }
}

/// The programs without hooks.
fn unhooked(jdk: &Path) -> Vec<(&'static str, String)> {
    let mut programs = vec![("fixtures", fixtures(3))];
    if jdk.join("bin/javac").exists() {
        programs.push(("javac", "javac = { seconds = 3 }".into()))
    } else {
        println!("skipped: javac, which {} has not", jdk.display())
    }
    let hooks = "\nhooks = \"none\"";
    let unhooked = programs.into_iter();
    unhooked
        .map(|(name, program)| (name, program + hooks))
        .collect()
}

/// Runs `program` until there are `enough` faults and enough stacks of GetStackTrace, which test
/// the judge of edges: none of these stacks is impossible.
fn check_class_files(
    jdk: &Path,
    (name, program): (&str, &str),
    options: &[&str],
    enough: impl Fn(&[FaultCount]) -> bool,
) -> Vec<FaultCount> {
    const STACKS: u64 = 1000;
    let (mut stacks, mut faults) = (0, vec![]);
    for seed in seeds("true stacks and faults") {
        let (report, of_run) = run_scenario(jdk, &scenario(program, 2), seed, options);
        let found = &report.runs[0].edges.gst;
        let is_impossible = |(finding, _): &(&String, _)| finding.starts_with("impossible");
        let impossible: Vec<_> = found.edges.iter().filter(is_impossible).collect();
        assert!(impossible.is_empty(), "{jdk:?} {name}: {impossible:?}");
        stacks += found.stacks;
        faults.extend(of_run);
        if stacks >= STACKS && enough(&faults) {
            break;
        }
    }
    println!("{} {name}: {stacks} true stacks", jdk.display());
    faults
}

/// How many faults class files alone catch is a measurement, because they allow some false stacks.
/// They mostly forbid a stack without a middle frame, unless the change is a shallower recursion:
/// two of the programs call themselves directly, and with a frame less their stacks are true
/// stacks.
#[test]
fn class_files_alone_catch_missing_frames() {
    const MISSING: u64 = 100;
    for jdk in jdks() {
        for (name, program) in unhooked(&jdk) {
            let options = ["--fault", "all:call-edge,asgct-gst:1"];
            let of = |faults: &[FaultCount], kind: FaultKind, outcome: Option<Detection>| {
                sum(faults, |fault| {
                    fault.layer == Layer::CallEdge
                        && fault.kind == kind.name()
                        && outcome.is_none_or(|outcome| fault.outcome == outcome)
                })
            };
            let enough = |faults: &[FaultCount]| of(faults, FaultKind::DropMiddle, None) >= MISSING;
            let faults = check_class_files(&jdk, (name, &program), &options, enough);
            assert_caught(&faults, Layer::AsgctGst);
            assert_caught(&faults, Layer::CallEdge);
            for kind in FaultKind::ALL {
                let injected = of(&faults, kind, None);
                let caught = of(&faults, kind, Some(Detection::Caught));
                let recursion = of(&faults, kind, Some(Detection::Explained(Unseen::Recursion)));
                println!("{kind:<16}{caught:6} of {injected:6}, {recursion:6} recursion");
                if kind == FaultKind::DropMiddle {
                    let good = 100 * caught >= 80 * (injected - recursion);
                    assert!(good, "{jdk:?} {name}: {faults:#?}");
                }
            }
        }
    }
}

#[test]
fn without_faults_no_true_stack_is_impossible() {
    for jdk in jdks() {
        for (name, program) in unhooked(&jdk) {
            let faults = check_class_files(&jdk, (name, &program), &[], |_| true);
            assert_eq!(faults, [], "{jdk:?} {name}");
        }
    }
}

#[test]
fn faults_of_hooks_are_caught() {
    for jdk in jdks() {
        println!("{}", jdk.display());
        for hook_fault in ["drop-pops", "double-pops", "drop-pushes"] {
            let options = ["--hook-fault", hook_fault, "--hook-fault-one-in", "1000"];
            let (mut faults, mut reported) = (vec![], 0);
            for seed in seeds("faults of hooks") {
                let (report, of_run) = inject(&jdk, &fixtures(2), seed, &options);
                faults.extend(of_run);
                reported += mismatches(&report, Layer::Ground);
                if sum(&faults, |fault| fault.layer == Layer::Ground) >= 100 && reported > 0 {
                    break;
                }
            }
            assert_caught(&faults, Layer::Ground);
        }
    }
}

#[test]
fn without_faults_nothing_is_reported() {
    for jdk in jdks() {
        let (report, faults) = inject(&jdk, &fixtures(4), 1, &[]);
        assert_eq!(faults, [], "{jdk:?}");
        for layer in [Layer::Ground, Layer::Gst]
            .into_iter()
            .chain(of_suspended())
        {
            assert_eq!(mismatches(&report, layer), 0, "{jdk:?} {layer}");
        }
    }
}
