//! Layers `gst-step`, `asgct-step` and `asgst-step`: threads run one instruction at a time.

use crate::support::{self, Ran, on_each_jdk, seeds};
use oracle::mutants::Detection;
use oracle::record::{FaultCount, InstructionCounts, VISITED_FILE, VisitedCode, Worst};
use oracle::report::{Exit, Report, Run};
use oracle::tally::Tally;
use oracle::{Layer, Verdict};
use std::path::Path;

/// Runs fixtures whose threads step, with the walker of `layer`.
fn run(jdk: &Path, seed: u64, layer: Layer, jvm_args: &[&str], options: &[&str]) -> Ran {
    let scenario = format!(
        "name = \"steps\"\nlayers = [\"gst-step\", \"{layer}\"]\n\
         [sampling]\nsteps = true\nstep_seconds = 8\ngst_every = 0\nevidence_limit = 10\n\
         [budget]\ngst-step = 1\n{layer} = 1\n[imprecise_budget]\n{layer} = 1\n\
         [[program]]\nname = \"program\"\nhooks = \"none\"\nbaseline = false\njvm_args = {jvm_args:?}\n\
         fixtures = {{ names = [\"tiny-leaves\", \"hash-maps\", \"lambdas\"], seconds = 1 }}\n"
    );
    support::run_well(jdk, &scenario, seed, options)
}

/// Runs an unmodified program whose threads step, with AsyncGetCallTrace: further lines of `[sampling]`, and those of the
/// program. A mismatch of the walker is no failure, and one of the truth is.
pub fn unmodified(jdk: &Path, seed: u64, sampling: &str, program: &str) -> Ran {
    unmodified_by(jdk, seed, Layer::AsgctStep, sampling, program)
}

/// As [`unmodified`], with the walker of `layer`.
pub fn unmodified_by(jdk: &Path, seed: u64, layer: Layer, sampling: &str, program: &str) -> Ran {
    let scenario = format!(
        "name = \"steps\"\nlayers = [\"gst-step\", \"{layer}\"]\n\
         [sampling]\nsteps = true\ngst_every = 0\n{sampling}\
         [budget]\n{layer} = 1\n[imprecise_budget]\n{layer} = 1\n\
         [[program]]\nname = \"program\"\nhooks = \"none\"\nbaseline = false\n{program}"
    );
    support::run_well(jdk, &scenario, seed, &[])
}

fn tally(report: &Report, layer: Layer) -> Tally {
    let mut layers = report.layers.iter();
    let counts = layers.find(|counts| counts.layer == layer);
    counts.map(|counts| counts.tally()).unwrap_or_default()
}

/// Instructions of code whose name starts with `name`.
fn instructions(run: &Run, name: &str) -> u64 {
    let steps = run.steps.iter();
    let all = steps.flat_map(|steps| &steps.instructions);
    let of_name = all.filter(|(code, _)| code.starts_with(name));
    of_name
        .map(|(_, counts): (_, &InstructionCounts)| counts.all)
        .sum()
}

/// The truth is the same as that of the VM, which GetStackTrace tells, in interpreted and in compiled code.
#[test]
fn get_stack_trace_agrees_with_the_steps() {
    if support::cannot_step() {
        return;
    }
    on_each_jdk(|jdk| {
        for options in [&[][..], &["-XX:TieredStopAtLevel=1"], &["-Xint"]] {
            let (mut of_truth, mut of_walker) = (Tally::default(), Tally::default());
            let (mut compiled, mut interpreted) = (0, 0);
            for seed in seeds(&format!("{jdk:?}: waiting for steps")) {
                let ran = run(jdk, seed, Layer::AsgctStep, options, &[]);
                of_truth += &tally(&ran.report, Layer::GstStep);
                of_walker += &tally(&ran.report, Layer::AsgctStep);
                compiled += instructions(&ran.report.runs[0], "nmethod");
                interpreted += instructions(&ran.report.runs[0], "Interpreter");
                let has_code = interpreted >= 100 && (compiled >= 100 || options == ["-Xint"]);
                if has_code && of_truth.decided() >= 20 && of_walker.decided() >= 10_000 {
                    break;
                }
            }
            println!(
                "{jdk:?} {options:?}: {of_truth:?}, {of_walker:?}, {compiled} compiled instructions"
            );
            assert_eq!(of_truth.mismatches(), 0, "{jdk:?} {options:?}");
            assert_eq!(of_truth.errors(), 0, "{jdk:?} {options:?}");
        }
    });
}

/// Of the methods that took all their own ways, and that a thread ran from their call to their return, nearly all
/// instructions were visited. What was not is listed: it is behind branches that were not taken, and at entries and
/// handlers that were not used.
#[test]
fn methods_that_run_to_their_end_are_visited_whole() {
    if support::cannot_step() {
        return;
    }
    const METHODS: [&str; 4] = ["branches", "switches", "loops", "decimals"];
    on_each_jdk(|jdk| {
        for compiler in [
            ["-XX:TieredStopAtLevel=1", "-Xbatch"],
            ["-XX:-TieredCompilation", "-Xbatch"],
        ] {
            // A way counts as taken where a stepped call took it: the test goes on, longer each time, until the
            // four methods were called often enough for all of theirs.
            for (seed, nth) in seeds(&format!("{jdk:?} {compiler:?}: waiting for methods")).zip(1..)
            {
                let seconds = 20 * nth;
                let program = format!(
                    "jvm_args = {compiler:?}\nfixtures = {{ names = [\"all-ways\"], seconds = {seconds} }}\n"
                );
                let sampling = format!("step_seconds = {seconds}\nevidence_limit = 1\n");
                let ran = unmodified(jdk, seed, &sampling, &program);
                let run = &ran.report.runs[0];
                let of_truth = tally(&ran.report, Layer::GstStep);
                assert_eq!(of_truth.mismatches(), 0, "{jdk:?}");
                let file = ran.out.join(&run.dir).join(VISITED_FILE);
                let all = visited(&file);
                let ended: Vec<_> = all.iter().filter(|code| code.has_ended).collect();
                let of = |method: &str| {
                    let name = format!("stackwitness.fixtures.AllWays.{method}");
                    let code = ended
                        .iter()
                        .find(|code| code.method.as_ref() == Some(&name));
                    code.map(|code| shares(code))
                };
                let found: Vec<_> = METHODS.iter().map(|method| of(method)).collect();
                println!(
                    "{jdk:?} {compiler:?}: {} methods ended, {found:?}",
                    ended.len()
                );
                // All that ended: what was not visited is listed.
                let [visited, listed, all] = sum(ended.iter().map(|code| shares(code)));
                println!("of {all} instructions {visited} were visited, {listed} are listed");
                assert!(100 * (visited + listed) >= 95 * all);
                // The methods that take all their ways: there is little to list.
                let has_each = found.iter().all(Option::is_some);
                let [visited, _, all] = sum(found.into_iter().flatten());
                if has_each && 100 * visited >= 95 * all {
                    break;
                }
            }
        }
    });
}

/// A program with many threads, virtual threads, exceptions, deoptimisation, on-stack replacement, and calls between
/// Java and C in both directions, steps through to its normal end, and prints what it prints without us.
#[test]
fn a_program_of_many_kinds_steps_to_its_end_with_its_own_output() {
    if support::cannot_step() {
        return;
    }
    const NAMES: [&str; 12] = [
        "live-threads",
        "thread-pools",
        "virtual-threads-10000",
        "exceptions-up",
        "implicit-exceptions",
        "try-finally",
        "deopt-hierarchy",
        "deopt-traps",
        "osr-loops",
        "native-calls",
        "upcalls",
        "foreign-upcalls",
    ];
    on_each_jdk(|jdk| {
        let program = format!("fixtures = {{ names = {NAMES:?}, seconds = 24 }}\n");
        let ran = unmodified(jdk, 1, "evidence_limit = 1\n", &program);
        let run = &ran.report.runs[0];
        let of_truth = tally(&ran.report, Layer::GstStep);
        println!(
            "{jdk:?}: {of_truth:?}, {:?}",
            run.steps.as_ref().map(|steps| &steps.ends)
        );
        assert_eq!(of_truth.mismatches(), 0, "{jdk:?}");
        assert!(of_truth.decided() >= 20, "{jdk:?}: {of_truth:?}");
        let printed = std::fs::read_to_string(ran.out.join(&run.dir).join("stdout.txt"));
        let printed = printed.expect("the output is there");
        let plain = std::process::Command::new(jdk.join("bin/java"))
            .args(&run.java_args)
            .output()
            .expect("java runs");
        assert!(plain.status.success(), "{jdk:?}: {plain:?}");
        let plain = String::from_utf8(plain.stdout).expect("text");
        assert_eq!(without_times(&printed), without_times(&plain), "{jdk:?}");
    });
}

/// The lines of fixtures without how often each one ran, and for how long.
fn without_times(printed: &str) -> Vec<String> {
    let is_time = |word: &&str| word.starts_with("rounds=") || word.starts_with("ms=");
    let words = |line: &str| -> Vec<String> {
        let words = line.split(' ').filter(|word| !is_time(word));
        words.map(str::to_owned).collect()
    };
    printed.lines().map(|line| words(line).join(" ")).collect()
}

/// The code in the file of a run.
pub fn visited(file: &Path) -> Vec<VisitedCode> {
    let text = std::fs::read_to_string(file).expect("the code is there");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("a piece of code"))
        .collect()
}

/// The instructions of several pieces of code, as of one.
fn sum(shares: impl Iterator<Item = [usize; 3]>) -> [usize; 3] {
    shares.fold([0; 3], |a, b| [0, 1, 2].map(|i| a[i] + b[i]))
}

/// The instructions of a compiled method that were visited, those that are listed as not taken, and all.
fn shares(code: &VisitedCode) -> [usize; 3] {
    let stubs = code.stubs.unwrap_or(u32::MAX);
    let visited = code.visited.iter().filter(|(at, _)| *at < stubs).count();
    let missed = code.missed.as_ref().map_or(0, Vec::len);
    let should = code.behind_visited.as_ref().map_or(missed, Vec::len);
    [visited, missed - should, visited + missed]
}

/// Walkers that fail on purpose are caught, and nothing else is reported of the truth.
#[test]
fn faults_of_walkers_are_caught() {
    if support::cannot_step() {
        return;
    }
    on_each_jdk(|jdk| {
        faults_are_caught(jdk, Layer::AsgctStep);
        faults_are_caught(jdk, Layer::AsgstStep);
    });
}

fn faults_are_caught(jdk: &Path, walker: Layer) {
    let mut faults: Vec<FaultCount> = vec![];
    let mut of_truth = Tally::default();
    let sum = |faults: &[FaultCount], is: &dyn Fn(&FaultCount) -> bool| -> u64 {
        let counted = faults.iter().filter(|fault| is(fault));
        counted.map(|fault| fault.count).sum()
    };
    for seed in seeds(&format!("{jdk:?}: waiting for faults")) {
        let fault = format!("all:gst-step,{walker}:5");
        let ran = run(jdk, seed, walker, &[], &["--fault", &fault]);
        faults.extend(support::faults_of(&ran));
        of_truth += &tally(&ran.report, Layer::GstStep);
        let of_walker = sum(&faults, &|fault| fault.layer == walker);
        if of_walker >= 1000 {
            break;
        }
    }
    for layer in [Layer::GstStep, walker] {
        let injected = sum(&faults, &|fault| fault.layer == layer);
        let good = sum(&faults, &|fault| {
            let is_good = matches!(fault.outcome, Detection::Caught | Detection::Explained(_));
            fault.layer == layer && is_good
        });
        let caught = sum(&faults, &|fault| {
            fault.layer == layer && fault.outcome == Detection::Caught
        });
        println!("{jdk:?} {layer}: {injected} faults, {caught} caught, {good} caught or explained");
        assert!(100 * good >= 99 * injected, "{jdk:?}: {faults:#?}");
        assert!(2 * caught >= injected, "{jdk:?}: {faults:#?}");
    }
    let reported = sum(&faults, &|fault| {
        let is_mismatch = matches!(fault.verdict, Verdict::Wrong | Verdict::Truncated);
        fault.layer == Layer::GstStep && is_mismatch
    });
    assert_eq!(of_truth.mismatches(), reported, "{jdk:?}: {faults:#?}");
}

/// What our walker promises at any instruction: a true stack, an error, or a top frame that says what may be missing.
#[test]
fn our_walker_is_within_its_budget_at_each_instruction() {
    if support::cannot_step() {
        return;
    }
    on_each_jdk(|jdk| {
        let mut sum = Tally::default();
        for seed in seeds(&format!("{jdk:?}: waiting for steps")) {
            let ran = run(jdk, seed, Layer::AsgstStep, &[], &[]);
            sum += &tally(&ran.report, Layer::AsgstStep);
            // Whether a thread comes to code without a debug info record depends on what the compilers have done by then.
            if sum.decided() >= 100_000 && sum.flagged > 0 {
                break;
            }
        }
        println!("{jdk:?}: {sum:?}");
        let budget = Layer::AsgstStep.row().budget;
        let rate = sum.mismatch_rate().expect("there are checks");
        assert!(rate <= budget, "{jdk:?}: {sum:?}");
        assert!(sum.flagged > 0, "{jdk:?}: {sum:?}");
    });
}

/// The runs of each JDK in which both layers of unmodified programs are at work.
const RUNS: u64 = 20;

/// Programs with one thread and with several, whose output is the same in every run.
const STEADY: [&str; 7] = [
    "tiny-leaves",
    "hash-maps",
    "lambdas",
    "exceptions-up",
    "contended",
    "native-calls",
    "class-loading",
];

/// Runs the steady programs, a fixed number of rounds, under `layers` or under none; returns what they print.
fn steady(jdk: &Path, seed: u64, layers: &[Layer]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let installed = java_fixtures::write_to(dir.path()).unwrap();
    let natives = libraries::FIXTURE_NATIVES.place(dir.path()).unwrap();
    let jar = installed.fixtures_jar.display().to_string();
    let property = format!("-Dstackwitness.fixture.natives={}", natives.display());
    let rounds = ["--rounds", "3", "--seed", "7"].map(String::from);
    let mut java = vec![
        property,
        "-cp".into(),
        jar,
        java_fixtures::MAIN_CLASS.into(),
    ];
    java.extend(rounds.into_iter().chain(STEADY.map(String::from)));
    if layers.is_empty() {
        let mut plain = std::process::Command::new(jdk.join("bin/java"));
        let output = support::run(plain.args(&java));
        assert_eq!(output.code, Some(0), "{jdk:?}: {output:#?}");
        return output.stdout;
    }
    let budgets = layers.iter().map(|layer| format!("{layer} = 1\n"));
    let budgets: String = budgets.collect();
    let names: Vec<_> = layers.iter().map(|layer| layer.name()).collect();
    let scenario = format!(
        "name = \"both\"\nlayers = {names:?}\n[sampling]\nsteps = true\nstep_seconds = 10\n[budget]\n{budgets}\
         [imprecise_budget]\n{budgets}[[program]]\nname = \"program\"\nhooks = \"none\"\nbaseline = false\n\
         deadline_s = 600\njava = {java:?}\n"
    );
    let ran = support::run_scenario(jdk, &scenario, seed, &[]);
    let of_run = &ran.report.runs[0];
    assert_eq!(of_run.exit, Exit::Code(0), "{jdk:?}, run {seed}");
    assert_eq!(of_run.invalid, None, "{jdk:?}, run {seed}");
    for &layer in layers {
        let tally = tally(&ran.report, layer);
        println!("{jdk:?}, run {seed}, {layer}: {} checks", tally.checks());
    }
    std::fs::read_to_string(ran.out.join(&of_run.dir).join("stdout.txt")).unwrap()
}

/// Layers that stop and trap threads change nothing, and end no program.
#[test]
#[ignore = "takes minutes for each JDK"]
fn both_layers_of_unmodified_programs_leave_twenty_runs_as_they_are() {
    if support::cannot_step() {
        return;
    }
    let layers = [Layer::AsgctEvent, Layer::GstStep, Layer::AsgctStep];
    for jdk in support::jdks() {
        let expected = steady(&jdk, 0, &[]);
        for seed in 1..=RUNS {
            assert_eq!(steady(&jdk, seed, &layers), expected, "{jdk:?}, run {seed}");
        }
    }
}

/// C1's `register_finalizer` looks at the object's class before it links its frame. Our walker knows the caller there too.
#[test]
fn a_stub_is_walked_before_it_links_its_frame() {
    if support::cannot_step() {
        return;
    }
    /// `push rbp`, and `mov rbp, rsp`.
    const LINK: &str = "55488bec";
    on_each_jdk(|jdk| {
        for seed in seeds(&format!("{jdk:?}: waiting for finalizers")) {
            let program = "jvm_args = [\"-XX:TieredStopAtLevel=1\"]\n\
                fixtures = { names = [\"finalizers\"], seconds = 8 }\n";
            let ran = unmodified_by(jdk, seed, Layer::AsgstStep, "step_seconds = 8\n", program);
            let run = &ran.report.runs[0];
            let all = visited(&ran.out.join(&run.dir).join(VISITED_FILE));
            let mut stubs = all.iter();
            let stub = stubs.find(|code| code.name.contains("register_finalizer"));
            let Some(stub) = stub else { continue };
            let link = stub.code.find(LINK).expect("the stub links its frame") / 2;
            let before = stub.visited.iter().filter(|(at, _)| *at as usize <= link);
            let before: Vec<_> = before.collect();
            if before.len() < 5 {
                continue;
            }
            println!("{jdk:?}: {} instructions up to {link}", before.len());
            let is_true = |worst| matches!(worst, Worst::Match | Worst::Flagged);
            let all_true = before.iter().all(|(_, worst)| is_true(*worst));
            assert!(all_true, "{jdk:?}: {before:?}");
            break;
        }
    });
}

/// Where exceptions pass through the VM's stubs, and where C2's code is deoptimised, our walker and the steps agree: the
/// handler of an exception may look like a return address, and a handler of deoptimisation calls its next instruction.
#[test]
fn exceptions_and_deoptimisation_are_followed_through_the_stubs() {
    if support::cannot_step() {
        return;
    }
    const STUBS: [&str; 3] = ["ExceptionBlob", "DeoptimizationBlob", "StubRoutines"];
    /// As many instructions of each as every run has that comes there at all.
    const ENOUGH: usize = 10;
    on_each_jdk(|jdk| {
        let mut seen = [0; STUBS.len()];
        for seed in seeds(&format!("{jdk:?}: waiting for exceptions")) {
            let program = "jvm_args = [\"-Xcomp\", \"-XX:-TieredCompilation\"]\n\
                fixtures = { names = [\"exceptions-up\", \"implicit-exceptions\", \"try-finally\"], seconds = 10 }\n";
            // Each method is compiled at its first call: a busy machine may need all the time for that.
            let time = format!("step_seconds = {}\n", 20 * seed.min(6));
            let ran = unmodified_by(jdk, seed, Layer::AsgstStep, &time, program);
            let run = &ran.report.runs[0];
            for code in visited(&ran.out.join(&run.dir).join(VISITED_FILE)) {
                let Some(stub) = STUBS.iter().position(|stub| code.name.starts_with(stub)) else {
                    continue;
                };
                let of_stub = code.visited.iter();
                let wrong: Vec<_> = of_stub
                    .filter(|(_, worst)| *worst == Worst::Wrong)
                    .collect();
                assert!(wrong.is_empty(), "{jdk:?}: {} {wrong:?}", code.name);
                seen[stub] = seen[stub].max(code.visited.len());
            }
            println!("{jdk:?}: {seen:?} instructions of {STUBS:?}");
            if seen.iter().all(|&seen| seen >= ENOUGH) {
                break;
            }
        }
    });
}
