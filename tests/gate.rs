//! `cargo test` as a gate for a JDK: the scenarios that are marked for it, one test for each JDK,
//! scenario and layer, as `17.0.15::test::asgct-async`. `JAVA_HOME` names the JDK. Without
//! `JAVA_HOME`, all installed JDKs are tested. STACKWITNESS_TEST_SCENARIOS may name more scenario
//! files, separated by commas. With STACKWITNESS_TEST_CONFIRM=1 a run that fails is done once more with
//! another seed, and a layer fails only if both runs fail it: for those who test Stackwitness, and not a
//! JDK, because an honest JDK fails one run in a hundred. Then JDKs are tested side by side, too.
//! With STACKWITNESS_BASE_JDK, a JDK that is assumed to be good, there is one test for each JDK instead, as
//! `17.0.15::check`: is it worse than the base? This is what `stackwitness check` does, and takes up to 15 minutes.

mod support;

use hotspot::claims::CLAIMS;
use libtest_mimic::{Arguments, Failed, Trial};
use oracle::Layer;
use oracle::gate::{
    Baseline, Judging, KnownIssues, Limits, Objection, Platform, Rule, Set, Subject, decide,
    hardly_measured, samples,
};
use oracle::outcome::Outcome;
use oracle::report::Report;
use reports::render::Style;
use scenarios::jdk::Jdk;
use scenarios::plan::Wishes;
use scenarios::scenario::BUILT_IN;
use scenarios::{Done, Maker, Plan, Scenario, Session, Task, store};
use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, OnceLock};

/// The results of JVMs that are known to be good.
const BASELINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/baselines");

/// Runs of scenarios would disturb each other: a busy machine gives fewer samples.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Whether Stackwitness is tested, and not a JDK.
fn confirms() -> bool {
    std::env::var_os("STACKWITNESS_TEST_CONFIRM").is_some()
}

/// A scenario on a JDK. It runs when the first of its layers is tested.
struct Case {
    scenario: Scenario,
    jdk: PathBuf,
    out: PathBuf,
    first: Ran,
    again: Ran,
}

/// A run of a scenario, once it is done.
type Ran = OnceLock<Result<Report, String>>;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let of_jdk = |home: PathBuf| match Jdk::at(&home, "JAVA_HOME") {
        Ok(jdk) => match base() {
            Some(base) => vec![check(jdk, base)],
            None => {
                let scenarios = marked();
                let trials = scenarios.iter().flat_map(|scenario| layers(&jdk, scenario));
                trials.collect()
            }
        },
        Err(error) => vec![Trial::test("jdk", move || Err(error.to_string().into()))],
    };
    let trials = support::jdks().into_iter().map(of_jdk).collect();
    libtest_mimic::run(&arguments, in_turns(trials)).exit_code()
}

/// The JDK that is assumed to be good, if the user names one.
fn base() -> Option<PathBuf> {
    std::env::var_os("STACKWITNESS_BASE_JDK").map(PathBuf::from)
}

/// The test whether `jdk` is worse than `base`.
fn check(jdk: Jdk, base: PathBuf) -> Trial {
    let version = jdk.version().unwrap_or("unknown").to_owned();
    let out = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("check")
        .join(&version);
    Trial::test(format!("{version}::check"), move || {
        let _alone = ONE_AT_A_TIME.lock();
        let task = Task {
            scenario: Scenario::load("test", &[]).map_err(|e| e.to_string())?,
            base: Jdk::at(&base, "STACKWITNESS_BASE_JDK").map_err(|e| e.to_string())?,
            new: jdk,
            seed: seed(),
            limits: Limits {
                detect: 0.005,
                minutes: 15.0,
            },
            alpha: 0.01,
            claims: &CLAIMS,
            faults: None,
            maker: Maker::default(),
        };
        let checked = task.run(&out, &mut |_| {}).map_err(|e| e.to_string())?;
        if checked.answer.outcome == Outcome::Within {
            return Ok(());
        }
        let document = reports::content::check(&checked.answer, &checked.base, &checked.new);
        let text = reports::render::text(&document, Style::Plain);
        Err(format!("{text}\nreports: {}", out.display()).into())
    })
}

/// The first of each list, then the second of each, and so on: the first trial of a JDK runs the scenario, and
/// the JDK's other trials would wait for it.
fn in_turns(lists: Vec<Vec<Trial>>) -> Vec<Trial> {
    let mut placed: Vec<(usize, Trial)> = lists
        .into_iter()
        .flat_map(|list| list.into_iter().enumerate())
        .collect();
    placed.sort_by_key(|&(place, _)| place);
    placed.into_iter().map(|(_, trial)| trial).collect()
}

fn seed() -> u64 {
    let given = std::env::var("STACKWITNESS_TEST_SEED");
    given.map_or(1, |seed| {
        seed.parse().expect("STACKWITNESS_TEST_SEED is a number")
    })
}

/// The scenarios that are marked for `cargo test`.
fn marked() -> Vec<Scenario> {
    let ours = BUILT_IN.iter().map(|(name, _)| (*name).to_owned());
    let more = std::env::var("STACKWITNESS_TEST_SCENARIOS").unwrap_or_default();
    let theirs = more
        .split(',')
        .filter(|name| !name.is_empty())
        .map(Into::into);
    let load = |name: String| Scenario::load(&name, &[]).unwrap_or_else(|error| panic!("{error}"));
    ours.map(load)
        .filter(|scenario| scenario.cargo_test)
        .chain(theirs.map(load))
        .collect()
}

fn layers(jdk: &Jdk, scenario: &Scenario) -> Vec<Trial> {
    let version = jdk.version().unwrap_or("unknown");
    let mut out = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("gate")
        .join(version)
        .join(&scenario.name);
    if std::env::var_os("NEXTEST").is_some() {
        // With nextest each layer has a process of its own.
        out.push(std::process::id().to_string());
    }
    let case = Arc::new(Case {
        scenario: scenario.clone(),
        jdk: jdk.home().into(),
        out,
        first: Ran::new(),
        again: Ran::new(),
    });
    let trial = |&layer: &Layer| {
        let case = case.clone();
        Trial::test(
            format!("{version}::{}::{layer}", scenario.name),
            move || case.judge(layer),
        )
    };
    scenario.required.iter().map(trial).collect()
}

impl Case {
    fn run(&self, seed: u64, out: &Path) -> Result<Report, String> {
        let _alone = (!confirms()).then(|| ONE_AT_A_TIME.lock());
        let wishes = Wishes {
            jdks: vec![self.jdk.clone()],
            seed,
            ..Wishes::default()
        };
        let plan = Plan::new(&self.scenario, &wishes).map_err(|e| e.to_string())?;
        let session = Session::new(self.scenario.clone(), plan, out).map_err(|e| e.to_string())?;
        let baseline = baselines(&self.scenario)?;
        let hardly = |report: &Report| hardly_measured(report, &baseline, ARCH);
        let done = session
            .run_until(&hardly, &mut |_| {})
            .and_then(Done::whole);
        done.map_err(|e| e.to_string())
    }

    fn judge(&self, layer: Layer) -> Result<(), Failed> {
        let Some(told) = self.objection(&self.first, seed(), &self.out, layer)? else {
            return Ok(());
        };
        if !confirms() {
            return Err(told.into());
        }
        let (other, out) = (seed() + 1, self.out.join("again"));
        match self.objection(&self.again, other, &out, layer)? {
            Some(again) => Err(format!("{told}\nand with seed {other}:\n{again}").into()),
            None => {
                println!("failed once, and not with seed {other}:\n{told}");
                Ok(())
            }
        }
    }

    /// What speaks against a layer in a run, if anything does.
    fn objection(
        &self,
        ran: &Ran,
        seed: u64,
        out: &Path,
        layer: Layer,
    ) -> Result<Option<String>, Failed> {
        let report = ran.get_or_init(|| self.run(seed, out)).as_ref()?;
        let path = out.join(store::REPORT_FILE);
        let baseline = baselines(&self.scenario)?;
        let known = KnownIssues::default();
        let decision = decide(report, rule(report, &baseline, &known), &CLAIMS);
        // An objection to another layer fails that layer's test.
        let mine = |reason: &&Objection| match &reason.subject {
            Subject::Layer(of) => *of == layer,
            Subject::Report | Subject::Run(_) | Subject::KnownIssue(_) => true,
        };
        if decision.reasons.iter().find(mine).is_none() {
            return Ok(None);
        }
        let document = reports::content::decision(report, &decision);
        let told = reports::render::text(&document, Style::Plain);
        Ok(Some(format!("{told}\nreport: {}", path.display())))
    }
}

/// The rule: against the baseline if the baseline has runs of the report's JDK, else by upper
/// bounds.
fn rule<'a>(report: &Report, baseline: &'a Baseline, known: &'a KnownIssues) -> Rule<'a> {
    let platforms = samples(report, ARCH).unwrap_or_default();
    let is_known = |(platform, _): &(Platform, Set)| baseline.sets.contains_key(platform);
    if platforms.is_empty() || !platforms.iter().all(is_known) {
        return Rule::UpperBounds {
            known,
            platform: ARCH,
        };
    }
    Rule::Baseline {
        baseline,
        known,
        platform: ARCH,
        judging: Judging { alpha: 0.01 },
        detect: None,
    }
}

/// The baselines of a built-in scenario: files named after the scenario and the JDK, such as
/// `test-17.json`. Other scenarios have none.
fn baselines(scenario: &Scenario) -> Result<Baseline, String> {
    let mut files = vec![];
    for entry in fs::read_dir(BASELINES).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(&format!("{}-", scenario.name)) && name.ends_with(".json") {
            files.push(entry.path());
        }
    }
    files.sort();
    scenarios::baseline::gather(&files, ARCH, store::read_report).map_err(|e| e.to_string())
}
