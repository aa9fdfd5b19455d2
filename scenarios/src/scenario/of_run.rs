//! The program of a run in a report, without what belongs to that run's machine and folder.

use super::model::{Program, Start};
use super::of_user;
use java_fixtures::{FIXTURE_NAMES, JAVAC_CLASS, MAIN_CLASS, STRESS_NAMES};
use oracle::report::Run;

/// The folder of the run in options for the JVM, as scenarios write it.
const RUN: &str = "{run}";

impl Program {
    /// The program of a run. `usual` has all that the run does not say.
    pub fn of_run(run: &Run, usual: &Program) -> Program {
        let args = &run.java_args;
        let main = |class: &str| args.iter().position(|arg| arg == class);
        let (start, options) = if let Some(at) = main(MAIN_CLASS) {
            (fixtures(&args[at + 1..]), own(&args[..at]))
        } else if let Some(at) = main(JAVAC_CLASS) {
            let seconds = seconds(&args[at + 1..]);
            (Start::Javac { seconds }, own(&args[..at]))
        } else {
            let is_option = |arg: &&String| arg.starts_with("-X");
            let end = args.iter().take_while(is_option).count();
            (Start::Java(args[end..].to_vec()), args[..end].to_vec())
        };
        let name = match &start {
            Start::Fixtures { names, .. } if names.len() == 1 => names[0].clone(),
            _ => run.scenario.clone(),
        };
        Program {
            foreground: matches!(start, Start::Java(_)) && run.scenario == of_user::NAME,
            name,
            start,
            jvm_args: options
                .iter()
                .map(|option| without_folder(option, run))
                .collect(),
            hooks: run.hooks.unwrap_or_default(),
            ..usual.clone()
        }
    }

    /// Each fixture of the program alone, for so many seconds; none if the program is of another kind.
    pub fn fixtures_alone(&self, seconds: f64) -> Vec<Program> {
        let Start::Fixtures { names, .. } = &self.start else {
            return vec![];
        };
        let all = || FIXTURE_NAMES.iter().map(|&name| name.into()).collect();
        let names = if names.is_empty() {
            all()
        } else {
            names.clone()
        };
        let alone = names.into_iter().map(|name| Program {
            start: Start::Fixtures {
                names: vec![name.clone()],
                seconds,
            },
            name,
            ..self.clone()
        });
        alone.collect()
    }
}

/// The names of all fixtures.
pub fn all_fixtures() -> impl Iterator<Item = &'static str> {
    FIXTURE_NAMES.iter().chain(STRESS_NAMES).copied()
}

/// The fixtures that the arguments of their main class name.
fn fixtures(args: &[String]) -> Start {
    let is_fixture = |arg: &&String| all_fixtures().any(|name| name == *arg);
    let names: Vec<String> = args.iter().filter(is_fixture).cloned().collect();
    let count = match names.len() {
        0 => FIXTURE_NAMES.len(),
        n => n,
    };
    Start::Fixtures {
        names,
        seconds: seconds(args) * count as f64,
    }
}

/// The time after `--millis`, in seconds.
fn seconds(args: &[String]) -> f64 {
    let mut words = args.iter().skip_while(|arg| *arg != "--millis").skip(1);
    let millis = words.next().and_then(|word| word.parse::<f64>().ok());
    millis.unwrap_or(1000.0) / 1000.0
}

/// The options that the runner did not add by itself, as it does for every run of fixtures: their class path, and what
/// their native methods and their redefinitions need.
fn own(options: &[String]) -> Vec<String> {
    let mut kept = vec![];
    let mut words = options.iter().peekable();
    while let Some(word) = words.next() {
        if word == "-cp" {
            words.next();
        } else if word.starts_with("-Dstackwitness.fixture.natives=") {
            words.next_if(|next| next.starts_with("--enable-native-access="));
        } else if !(word.starts_with("-javaagent:") && word.ends_with("fixtures.jar")) {
            kept.push(word.clone());
        }
    }
    kept
}

/// The option with `{run}` in place of the folder of the run.
fn without_folder(option: &str, run: &Run) -> String {
    let Some(at) = option.find(&run.dir).filter(|_| !run.dir.is_empty()) else {
        return option.into();
    };
    let before = &option[..at];
    let start = before.rfind(['=', ',', ':']).map_or(0, |at| at + 1);
    format!("{}{RUN}{}", &option[..start], &option[at + run.dir.len()..])
}
