//! Layers `jfr`, `jfr-cpu` and `jfr-cpu-step`: events of JFR's samplers, joined with what was true at their requests.

#[path = "../support/mod.rs"]
mod support;

mod steps;

use joining::classes::Classes;
use joining::faults::Injector;
use joining::file::RequestsFile;
use joining::methods::NamedMethods;
use joining::run::judge_all;
use oracle::Layer;
use oracle::mutants::{Detection, FaultKind};
use oracle::record::{FaultCount, JoinCounts};
use oracle::requests::{CLASSES_FILE, REQUESTS_FILE};
use recordings::samples;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use support::{Ran, jdks, seeds, sum};

/// The settings of a recording with samples alone.
const EXECUTION: &str = "+jdk.ExecutionSample#enabled=true,+jdk.ExecutionSample#period=1ms";
const CPU_TIME: &str = "+jdk.CPUTimeSample#enabled=true,+jdk.CPUTimeSample#throttle=1ms,\
    +jdk.CPUTimeSamplesLost#enabled=true";

/// JFR's own timers rest.
const CHOSEN: &str = "+jdk.CPUTimeSample#enabled=true,+jdk.CPUTimeSample#throttle=1s,\
    +jdk.CPUTimeSamplesLost#enabled=true";

/// The sampler of Stackwitness rests.
const RESTS: &str = "interval_us = 1000000";

/// The sampler of Stackwitness makes JFR's requests.
const CHOOSES: &str = "interval_us = 100\nchosen_instants = true";

/// The kinds of faults.
const GROUPS: [(&str, &[&str]); 6] = [
    ("frame dropped", &["drop-top", "drop-middle"]),
    ("frame added", &["repeat", "insert-at-start", "phantom-top"]),
    ("frames swapped", &["swap", "swap-neighbours"]),
    ("other method", &["sibling", "no-method", "unknown-method"]),
    ("other line", &["other-line"]),
    (
        "cut",
        &["drop-bottom", "cut-at-depth", "cut-at-native", "top-only"],
    ),
];

/// Runs fixtures for some seconds. `jvm_args` have no quotes.
fn run(jdk: &Path, layer: Layer, seed: u64, sampling: &str, jvm_args: &[&str]) -> Ran {
    let scenario = format!(
        "name = \"jfr\"\nlayers = [\"gst\", \"{layer}\"]\n\
         [sampling]\n{sampling}\ngst_every = 0\n\
         [budget]\n{layer} = 1\n[imprecise_budget]\n{layer} = 1\n\
         [[program]]\nname = \"program\"\nbaseline = false\njvm_args = {jvm_args:?}\n\
         fixtures = {{ names = [\"dispatch-interface\", \"hash-maps\", \"sorting\"], seconds = 3 }}\n"
    );
    support::run_well(jdk, &scenario, seed, &[])
}

fn recording(settings: &str) -> Vec<String> {
    let recording = "-XX:StartFlightRecording:filename={run}/requests.jfr,settings=none,";
    vec![
        "-XX:FlightRecorderOptions:stackdepth=2048".into(),
        format!("{recording}{settings}"),
    ]
}

/// Injects each fault in each joined event without a mismatch.
fn inject(ran: &Ran, layer: Layer, seed: u64) -> Vec<FaultCount> {
    let dir = ran.out.join(&ran.report.runs[0].dir);
    let open = |path: &Path| BufReader::new(File::open(path).expect("the run wrote the file"));
    let file = RequestsFile::read(open(&dir.join(REQUESTS_FILE))).expect("it can be read");
    let samples = samples::read(
        &mut open(&joining::recording(&dir)),
        &samples::Wanted::of_jfr(),
    )
    .expect("it can be read");
    // The truth of steps is each call: no class file is asked.
    let mut classes = (layer != Layer::JfrCpuStep)
        .then(|| Classes::read(open(&dir.join(CLASSES_FILE))).expect("it can be read"));
    if let Some(classes) = &mut classes {
        classes.distrust_altered(file.methods.values());
    }
    let mut methods = NamedMethods::new(&file.methods);
    let kinds: Vec<_> = FaultKind::ALL
        .into_iter()
        .filter(|&kind| kind != FaultKind::Error)
        .collect();
    let mut injector = Injector::new(&kinds, seed);
    judge_all(
        (&file, classes.as_ref()),
        &samples,
        &mut methods,
        &[layer],
        |judged, methods| {
            if let (Some((walk, truth)), false) = (judged.compared, judged.judgement.differs()) {
                injector.inject(layer, walk, truth, methods);
                injector.shift_line(layer, walk, truth, methods);
            }
        },
    );
    injector.counts
}

/// Of the faults of each kind that the truth can show, 99 of 100 are caught, and there are such faults.
fn each_group_is_caught(of: &str, faults: &[FaultCount]) {
    for (group, kinds) in GROUPS {
        let count = |outcome: fn(&Detection) -> bool| {
            sum(faults, |fault| {
                kinds.contains(&&*fault.kind) && outcome(&fault.outcome)
            })
        };
        let caught = count(|outcome| *outcome == Detection::Caught);
        let unseen = count(|outcome| matches!(outcome, Detection::Explained(_)));
        let visible = count(|_| true) - unseen;
        println!("  {group}: {caught} of {visible} visible faults caught, {unseen} not visible");
        assert!(
            visible > 0 && 100 * caught >= 99 * visible,
            "{of} {group}: {faults:#?}"
        );
    }
}

/// Events of both samplers are joined, and faults in joined events are caught.
#[test]
fn events_are_joined_and_faults_in_them_are_caught() {
    for jdk in jdks() {
        for (layer, sampling, settings) in [
            (Layer::Jfr, RESTS, EXECUTION),
            (Layer::JfrCpu, RESTS, CPU_TIME),
            (Layer::JfrCpu, CHOOSES, CHOSEN),
        ] {
            if layer == Layer::JfrCpu && !has_cpu_time(&jdk) {
                println!("skipped: {jdk:?} has no CPU-time samples");
                continue;
            }
            let options = recording(settings);
            let options: Vec<_> = options.iter().map(String::as_str).collect();
            let (mut events, mut joined, mut faults) = (0, 0, vec![]);
            let (mut windows, mut judged, mut in_hooks) = (0, 0, 0);
            // Up to JDK 24 a sampled thread waits behind the native method of a hook, and gets no event.
            let waits = layer == Layer::Jfr && !has_cpu_time(&jdk);
            for seed in seeds(&format!("{jdk:?} {layer}: waiting for events")) {
                let ran = run(&jdk, layer, seed, sampling, &options);
                let counts = ran.report.runs[0].joined.iter();
                let counts: Vec<&JoinCounts> = counts.collect();
                assert_eq!(counts.len(), 1, "{jdk:?}");
                events += counts[0].events;
                joined += counts[0].joined;
                in_hooks += counts[0].in_hooks;
                let of_layer = ran
                    .report
                    .layers
                    .iter()
                    .find(|counts| counts.layer == layer);
                let of_layer = of_layer.expect("the layer has checks");
                windows += of_layer.window;
                judged += of_layer.matches + of_layer.window + of_layer.imprecise + of_layer.wrong;
                faults.extend(inject(&ran, layer, seed));
                let injected = sum(&faults, |_| true);
                if joined >= 200 && injected >= 1000 && (in_hooks > 0 || !waits) {
                    break;
                }
            }
            let injected = sum(&faults, |_| true);
            let is_good = |fault: &FaultCount| {
                matches!(fault.outcome, Detection::Caught | Detection::Explained(_))
            };
            let good = sum(&faults, is_good);
            let caught = sum(&faults, |fault| fault.outcome == Detection::Caught);
            println!(
                "{jdk:?} {layer}, {settings}: {joined} of {events} events joined; \
                 {injected} faults, {caught} caught, {good} caught or explained"
            );
            assert!(in_hooks > 0 || !waits, "{jdk:?}");
            each_group_is_caught(&format!("{jdk:?} {layer}"), &faults);
            assert!(
                100 * joined >= 99 * events,
                "{jdk:?} {layer}: {joined} of {events}"
            );
            assert!(100 * good >= 99 * injected, "{jdk:?} {layer}: {faults:#?}");
            assert!(2 * caught >= injected, "{jdk:?} {layer}: {faults:#?}");
            // Class files show the call of nearly each frame without an entry.
            println!("  {windows} of {judged} judged stacks are windows");
            assert!(
                10 * windows <= judged,
                "{jdk:?} {layer}: {windows} of {judged}"
            );
        }
    }
}

/// CPU-time samples exist since JDK 25.
fn has_cpu_time(jdk: &Path) -> bool {
    let release = std::fs::read_to_string(jdk.join("release")).unwrap_or_default();
    let version = release.split("JAVA_VERSION=\"").nth(1).unwrap_or_default();
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().is_ok_and(|feature: u32| feature >= 25)
}

/// Where nothing was joined, nothing was measured.
#[test]
fn without_a_recording_there_is_no_data() {
    for jdk in jdks().into_iter().take(1) {
        let ran = run(&jdk, Layer::Jfr, 1, RESTS, &[]);
        assert_eq!(ran.code, Some(3), "{:?}", ran.report.runs[0].notes);
        let run = &ran.report.runs[0];
        let notes = run.notes.join("\n");
        assert!(notes.contains("there is no recording"), "{notes}");
        assert!(run.joined[0].why_none.is_some(), "{:?}", run.joined);
    }
}
