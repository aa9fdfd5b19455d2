//! A short run that shows whether the JDK, the agent and the agent's signals work together.

use super::diagnosis::Diagnosis;
use oracle::When;
use oracle::report::Run;
use scenarios::plan::Wishes;
use scenarios::{Done, Plan, Scenario, Session};
use std::path::Path;

/// The layers that scenarios usually have, and one that asks AsyncGetStackTrace: the agent then reads all that it can read.
const SCENARIO: &str = "\
name = 'doctor'
layers = ['ground', 'gst', 'gst-other', 'gst-list', 'gst-all', 'asgct-safepoint', 'asgct-async', 'asgst-async']
[[program]]
name = 'trial'
fixtures = { names = ['math-parser', 'lambdas'], seconds = 3 }
baseline = false
";

const OTHER_JDK_IS_READ: &str =
    "name a JDK that can be read with --jdk, or judge only layers that do not need this";

const OTHER_JDK: &str = "name a JDK of version 17 or later with --jdk";

/// Makes a short run on `jdk`, else on the JDK that `run` would take, with its files below `folder`.
pub fn diagnoses(jdk: Option<&Path>, folder: &Path) -> Vec<Diagnosis> {
    let wishes = Wishes {
        jdks: jdk.map(Path::to_owned).into_iter().collect(),
        seed: 1,
        ..Wishes::default()
    };
    let plan = Scenario::parse(SCENARIO, "doctor").and_then(|scenario| {
        let plan = Plan::new(&scenario, &wishes)?;
        Ok((scenario, plan))
    });
    let (scenario, plan) = match plan {
        Ok(plan) => plan,
        Err(error) => return vec![Diagnosis::problem("JDK", error, OTHER_JDK)],
    };
    let mut diagnoses: Vec<Diagnosis> = plan.jobs.iter().map(|job| found(&job.jdk)).collect();
    let place = match tempfile::tempdir_in(folder) {
        Ok(place) => place,
        Err(error) => {
            let what = format!("{}: {error}", folder.display());
            diagnoses.push(Diagnosis::problem(
                "folder",
                what,
                "name another folder with -o",
            ));
            return diagnoses;
        }
    };
    let done =
        Session::new(scenario, plan, place.path()).and_then(|session| session.run(&mut |_| {}));
    match done.and_then(Done::whole) {
        Ok(report) => diagnoses.extend(report.runs.first().into_iter().flat_map(of_run)),
        Err(error) => diagnoses.push(Diagnosis::problem(
            "agent",
            error,
            "see `stackwitness run --help`",
        )),
    }
    diagnoses
}

fn found(jdk: &scenarios::jdk::Jdk) -> Diagnosis {
    let version = jdk.version().unwrap_or("of unknown version");
    let compiler = if jdk.has_module("jdk.compiler") {
        ""
    } else {
        ", without a compiler: programs that need javac are skipped"
    };
    Diagnosis::fine(
        "JDK",
        format!("{version} in {}{compiler}", jdk.home().display()),
    )
}

fn of_run(run: &Run) -> Vec<Diagnosis> {
    let agent = match &run.jdk {
        Some(jdk) => Diagnosis::fine("agent", format!("works in {} {}", jdk.vm, jdk.version)),
        None => Diagnosis::problem("agent", run.notes.join(" "), OTHER_JDK),
    };
    let sampled = run
        .layers
        .iter()
        .filter(|counts| counts.layer.row().when == When::Signal);
    let samples: u64 = sampled.map(|counts| counts.tally().decided()).sum();
    let signals = match samples {
        0 => Diagnosis::problem(
            "signals",
            "no sample arrived",
            "nothing may block or handle signal SIGRTMIN+7 in the JVM",
        ),
        samples => Diagnosis::fine("signals", format!("{samples} samples in the trial")),
    };
    let mut diagnoses = vec![agent, signals];
    if run.lost.is_empty() && run.jdk.is_some() {
        let found = "all that layers, causes and walkers read";
        diagnoses.push(Diagnosis::fine("VM", found));
    }
    let lost = run.lost.iter();
    diagnoses.extend(lost.map(|lost| Diagnosis::problem("VM", lost, OTHER_JDK_IS_READ)));
    diagnoses
}
