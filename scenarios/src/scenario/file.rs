//! Scenario files: their keys, and the place of each mistake.

use super::check::{self, Complaint, Texts};
use super::model::{Matrix, Program, Scenario, Start, Suite, SuiteKind, default_budget};
use super::sampling::{FileSampling, share_of_methods};
use super::variation::Variation;
use crate::Error;
use crate::text::{nearest, plain, position, sha256, toml_mistake};
use oracle::budget::Budget;
use oracle::record::{Sampling, Statement, StatementBudget};
use oracle::{Hooking, Layer, When};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;
use std::time::Duration;
use toml::Spanned;

/// Reads a scenario; `file` names it in messages.
pub(super) fn parse(text: &str, file: &str) -> Result<Scenario, Error> {
    let read: File = toml::from_str(text)
        .map_err(|e| Error::Scenario(format!("{file}:{}", toml_mistake(text, &e))))?;
    let mut scenario = read.check().map_err(|(span, message)| {
        let (line, column) = position(text, span.start);
        Error::Scenario(format!("{file}:{line}:{column}: {}", plain(&message)))
    })?;
    scenario.sha256 = Some(sha256(text));
    Ok(scenario)
}

/// A scenario as its file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Its name in reports.
    name: Spanned<String>,
    /// Whether `cargo test` runs the scenario, if it is built in.
    #[serde(default)]
    cargo_test: bool,
    /// After this time, in seconds, no further program starts. Absent: no limit.
    time_budget_s: Option<Spanned<f64>>,
    /// The layers that are reported. Absent: the usual ones.
    layers: Option<Spanned<Vec<Spanned<Layer>>>>,
    /// The highest share of mismatches of a layer, from 0 to 1; 0 allows none. Absent: the budget of the layer.
    #[serde(default)]
    budget: BTreeMap<Layer, Spanned<f64>>,
    /// The highest share of imprecise stacks of a layer, from 0 to 1. Absent: that of the layer.
    #[serde(default)]
    imprecise_budget: BTreeMap<Layer, Spanned<f64>>,
    /// By layer and statement (`biased`, `truncated`, `failed`, `lost`, `unanswered`), the highest share of the samples, from 0
    /// to 1. Absent: not judged.
    #[serde(default)]
    statement_budget: BTreeMap<Spanned<Layer>, BTreeMap<Statement, Spanned<f64>>>,
    /// How the programs are sampled.
    #[serde(default)]
    sampling: FileSampling,
    /// In which variants everything runs: all combinations.
    #[serde(default)]
    matrix: FileMatrix,
    /// The programs, one or more. Each has `fixtures`, `javac`, `java` or `suite`.
    program: Spanned<Vec<Spanned<FileProgram>>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileMatrix {
    /// Homes of JDKs; `installed` stands for those in the usual place. `--jdk` overrides it.
    jdks: Option<Texts>,
    /// Axes by name, with values by name: a list of options for the JVM, or a table that changes more.
    axes: BTreeMap<Spanned<String>, Spanned<BTreeMap<String, Variation>>>,
    /// How often each variant runs, 1 to 10,000. Absent: once.
    repetitions: Option<Spanned<u32>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileProgram {
    /// Its name in reports.
    name: Spanned<String>,
    /// Small programs of ours with known shapes of calls.
    fixtures: Option<Fixtures>,
    /// The JDK's own compiler, on generated sources.
    javac: Option<Javac>,
    /// Any program, by the arguments of `java`. `{sources}` stands for a folder with a few hundred generated Java
    /// files.
    java: Option<Spanned<Vec<Spanned<String>>>>,
    /// Each benchmark of a suite, in a JVM of its own.
    suite: Option<FileSuite>,
    /// Options for the JVM. `{run}` stands for the folder of the run, as in the options of axes: layers `jfr`,
    /// `jfr-cpu` and `jfr-cpu-step` read the recording `{run}/requests.jfr`.
    #[serde(default)]
    jvm_args: Vec<Spanned<String>>,
    /// Whether classes are rewritten, and how: `exact`, `light` or `none`. Absent: `exact`.
    #[serde(default)]
    hooks: Hooking,
    /// In place of that of `[sampling]`. Each seed hooks other methods.
    probability: Option<Spanned<f64>>,
    /// After this time, in seconds, the program counts as hung: its threads are dumped, and it is ended. Absent: two
    /// minutes and four times its `seconds`.
    deadline_s: Option<Spanned<f64>>,
    /// Files, by name, that are written to the folder in which the program runs.
    #[serde(default)]
    files: BTreeMap<Spanned<String>, String>,
    /// Files without which the program is skipped, with a message.
    #[serde(default)]
    needs: Vec<PathBuf>,
    /// How to install these files, for the message.
    install: Option<String>,
    /// The oldest feature release of a JDK that runs the program. On older ones it is skipped.
    jdk: Option<Spanned<u32>>,
    /// The newest feature release that runs the program.
    last_jdk: Option<u32>,
    /// Whether the same work runs once more without the agent, to measure the slowdown. Absent: true.
    #[serde(default = "yes")]
    baseline: bool,
    /// Layers in place of the scenario's.
    layers: Option<Spanned<Vec<Spanned<Layer>>>>,
    /// In place of `[sampling]`, with the same keys.
    sampling: Option<FileSampling>,
    /// Whether only the turns of `stackwitness check` have the program.
    #[serde(default)]
    check_only: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixtures {
    /// The fixtures. Absent: all that run by default.
    names: Option<Texts>,
    /// How long they run together.
    seconds: Spanned<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Javac {
    /// How long the compiler runs.
    seconds: Spanned<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSuite {
    /// `renaissance` or `dacapo`.
    kind: SuiteKind,
    /// The jar of the suite; `--jar` overrides it.
    jar: Option<PathBuf>,
    /// The benchmarks. Absent: all that the jar lists.
    benchmarks: Option<Texts>,
    /// How often a benchmark is repeated in its JVM. Absent: once.
    repetitions: Option<Spanned<u32>>,
}

fn yes() -> bool {
    true
}

const WITHOUT_LAYERS: &str = "without layers nothing is measured";

/// The allowed numbers of repetitions.
const REPETITIONS: RangeInclusive<u32> = 1..=10_000;

fn repetitions(times: &Option<Spanned<u32>>) -> Result<u32, Complaint> {
    times.as_ref().map_or(Ok(1), |times| {
        check::whole(times, REPETITIONS, "repetitions")
    })
}

impl File {
    fn check(self) -> Result<Scenario, Complaint> {
        let mut budget = default_budget();
        for (layer, limit) in &self.budget {
            let what = "a budget is the highest share of mismatches allowed";
            budget.0.insert(*layer, check::share(limit, what)?);
        }
        let mut imprecise_budget = Budget::default();
        for (layer, limit) in &self.imprecise_budget {
            let what = "this budget is the highest share of imprecise stacks allowed";
            imprecise_budget
                .0
                .insert(*layer, check::share(limit, what)?);
        }
        let mut statement_budget = StatementBudget::default();
        for (layer, limits) in &self.statement_budget {
            if !layer.get_ref().is_recorded() {
                let message = "this budget is of samplers whose samples are in a recording, as those of `jfr` and `jfr-cpu`";
                return Err((layer.span(), message.into()));
            }
            let what =
                "this budget is the highest share of samples of which the sampler may say so";
            for (statement, limit) in limits {
                let limits = statement_budget.0.entry(*layer.get_ref()).or_default();
                limits.insert(*statement, check::share(limit, what)?);
            }
        }
        let matrix = self.matrix.check()?;
        check::name(&self.name, "a scenario's name")?;
        let layers = match &self.layers {
            Some(layers) => check::list(layers, WITHOUT_LAYERS)?,
            None => Layer::usual(),
        };
        let sampling = self.sampling.check(&layers)?;
        let values = matrix.axes.values().flat_map(BTreeMap::values);
        let alters = values.map(|value| value.altered).chain([sampling.altered]);
        let asks_at_signals = layers.iter().any(|layer| layer.row().when == When::Signal);
        if alters.flatten().next().is_some() && !asks_at_signals {
            let place = self.layers.as_ref().map_or(0..0, Spanned::span);
            let message = "walks from altered contexts follow samples, and no layer asks at a signal: \
                           have `asgct-gst` or `asgst-gst`, or with hooks `asgct-async` or `asgst-async`";
            return Err((place, message.into()));
        }
        let divides = |values: &BTreeMap<String, Variation>| {
            let of = |value: &Variation| value.layers.as_deref().is_some_and(one_walker);
            values.values().all(of)
        };
        if !one_walker(&layers) && !matrix.axes.values().any(divides) {
            let place = self.layers.as_ref().map_or(0..0, Spanned::span);
            let of_steps: Vec<_> = Layer::of_steps()
                .map(|layer| format!("`{layer}`"))
                .collect();
            let message = format!(
                "one walker is asked at each step: have one of {}, or an axis whose values have one of these `layers` each",
                of_steps.join(", ")
            );
            return Err((place, message));
        }
        if self.program.get_ref().is_empty() {
            return Err((
                self.program.span(),
                "a scenario needs at least one program".into(),
            ));
        }
        let (mut programs, mut check_only): (Vec<Program>, Vec<Program>) = (vec![], vec![]);
        for program in self.program.into_inner() {
            let (span, read) = (program.span(), program.into_inner());
            let layers = read.layers(&layers)?;
            let program = Program {
                sampling: read.sampling(&sampling, &layers)?,
                matrix: matrix.clone(),
                layers,
                ..read.check(span)?
            };
            let mut others = programs.iter().chain(&check_only);
            if others.any(|other| other.name == program.name) {
                let message = format!("there are two programs named `{}`", program.name);
                return Err((read.name.span(), message));
            }
            let of_kind = if read.check_only {
                &mut check_only
            } else {
                &mut programs
            };
            of_kind.push(program);
        }
        if programs.is_empty() {
            let message = "a scenario needs a program that is not `check_only`";
            return Err((self.name.span(), message.into()));
        }
        let time_budget = self
            .time_budget_s
            .map(|s| check::seconds(&s, "time_budget_s"))
            .transpose()?;
        let mut scenario = Scenario {
            name: self.name.into_inner(),
            cargo_test: self.cargo_test,
            budget,
            imprecise_budget,
            statement_budget,
            required: vec![],
            programs,
            check_only,
            time_budget: time_budget.map(Duration::from_secs_f64),
            sha256: None,
        };
        scenario.required = scenario.measured();
        Ok(scenario)
    }
}

impl FileMatrix {
    fn check(self) -> Result<Matrix, Complaint> {
        let mut axes = BTreeMap::new();
        for (name, values) in self.axes {
            check::name(&name, "an axis")?;
            let name = name.into_inner();
            if values.get_ref().is_empty() {
                return Err((values.span(), format!("the axis `{name}` has no values")));
            }
            axes.insert(name, values.into_inner());
        }
        Ok(Matrix {
            jdks: check::texts(&self.jdks, "leave it out for the usual one")?,
            axes,
            repetitions: repetitions(&self.repetitions)?,
        })
    }
}

/// Whether the layers ask at most one walker at each step.
fn one_walker(layers: &[Layer]) -> bool {
    let asked = Layer::of_steps().filter(|layer| layers.contains(layer));
    asked.count() <= 1
}

impl FileProgram {
    /// Its own layers, or those of the scenario.
    fn layers(&self, of_scenario: &[Layer]) -> Result<Vec<Layer>, Complaint> {
        let Some(own) = &self.layers else {
            return Ok(of_scenario.to_vec());
        };
        let layers = check::list(own, WITHOUT_LAYERS)?;
        if !one_walker(&layers) {
            return Err((own.span(), "one walker is asked at each step".into()));
        }
        Ok(layers)
    }

    /// Its own sampling, or that of the scenario.
    fn sampling(&self, of_scenario: &Sampling, layers: &[Layer]) -> Result<Sampling, Complaint> {
        let own = self.sampling.as_ref();
        let sampling = own.map_or(Ok(of_scenario.clone()), |own| own.check(layers))?;
        let probability = self.probability.as_ref();
        Ok(Sampling {
            probability: probability.map_or(Ok(sampling.probability), share_of_methods)?,
            ..sampling
        })
    }

    fn check(&self, span: Range<usize>) -> Result<Program, Complaint> {
        check::name(&self.name, "a program's name")?;
        for name in self.files.keys() {
            check::name(name, "a file's name")?;
        }
        let (start, time) = match (&self.fixtures, &self.javac, &self.java, &self.suite) {
            (Some(fixtures), None, None, None) => fixtures.check()?,
            (None, Some(javac), None, None) => {
                let seconds = check::seconds(&javac.seconds, "seconds")?;
                (Start::Javac { seconds }, seconds)
            }
            (None, None, Some(args), None) if args.get_ref().is_empty() => {
                return Err((args.span(), "`java` without arguments runs nothing".into()));
            }
            (None, None, Some(args), None) => (Start::Java(check::arguments(args.get_ref())?), 0.0),
            (None, None, None, Some(suite)) => {
                let suite = Suite {
                    kind: suite.kind,
                    jar: suite.jar.clone(),
                    benchmarks: check::texts(&suite.benchmarks, "leave it out for all")?,
                    repetitions: repetitions(&suite.repetitions)?,
                };
                (Start::Suite(suite), 480.0)
            }
            _ => {
                let message =
                    "a program needs exactly one of `fixtures`, `javac`, `java` and `suite`";
                return Err((span, message.into()));
            }
        };
        let deadline = match &self.deadline_s {
            Some(deadline) => check::seconds(deadline, "deadline_s")?,
            // Interpreted code with hooks is many times slower on a busy machine.
            None => time * 4.0 + 120.0,
        };
        Ok(Program {
            jvm_args: check::arguments(&self.jvm_args)?,
            hooks: self.hooks,
            deadline: Some(Duration::from_secs_f64(deadline)),
            files: self
                .files
                .iter()
                .map(|(k, v)| (k.get_ref().clone(), v.clone()))
                .collect(),
            needs: self.needs.clone(),
            install: self.install.clone(),
            oldest_jdk: self.jdk.as_ref().map(Spanned::get_ref).copied(),
            newest_jdk: self.last_jdk,
            baseline: self.baseline,
            ..Program::new(self.name.get_ref(), start)
        })
    }
}

impl Fixtures {
    fn check(&self) -> Result<(Start, f64), Complaint> {
        let names = check::texts(&self.names, "leave it out for all that run by default")?;
        let known = [java_fixtures::FIXTURE_NAMES, java_fixtures::STRESS_NAMES].concat();
        for name in self.names.iter().flat_map(Spanned::get_ref) {
            let given = name.get_ref().as_str();
            if !known.contains(&given) {
                let nearest = nearest(given, known.iter().copied());
                let all = known.join(", ");
                let told = format!("no fixture `{given}`: {nearest}known: {all}");
                return Err((name.span(), told));
            }
        }
        let seconds = check::seconds(&self.seconds, "seconds")?;
        Ok((Start::Fixtures { names, seconds }, seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::super::load::BUILT_IN;
    use super::*;

    const PROGRAM: &str = "[[program]]\nname = \"p\"\nfixtures = { seconds = 1 }\n";

    #[test]
    fn the_example_of_the_documentation_can_be_read() {
        let page = include_str!("../../../docs/scenarios.md");
        let (_, rest) = page.split_once("```toml\n").expect("an example");
        let (example, _) = rest.split_once("```").expect("its end");
        assert_eq!(parse(example, "example").unwrap().name, "example");
    }

    #[test]
    fn built_in_scenarios_can_be_read() {
        for (name, text) in BUILT_IN {
            let scenario = parse(text, name).unwrap();
            assert_eq!(&scenario.name, name);
            assert!(text.starts_with('#'), "{name} does not say what it is for");
        }
    }

    #[test]
    fn a_program_of_checks_has_layers_and_sampling_of_its_own() {
        let text = format!(
            "name = 'x'\n[sampling]\nprobability = 0.5\n{PROGRAM}[[program]]\nname = 'q'\ncheck_only = true\n\
             layers = ['jfr']\nsampling = {{ interval_us = 7 }}\nfixtures = {{ seconds = 1 }}\n"
        );
        let scenario = parse(&text, "x").unwrap();
        let names = |programs: &[Program]| -> Vec<String> {
            programs
                .iter()
                .map(|program| program.name.clone())
                .collect()
        };
        assert_eq!(names(&scenario.programs), ["p"]);
        assert_eq!(names(&scenario.check_only), ["q"]);
        let of_check = &scenario.check_only[0];
        assert_eq!(of_check.layers, [Layer::Jfr]);
        assert_eq!(of_check.sampling.interval_us, 7);
        assert_eq!(of_check.sampling.probability, 1.0);
        // A stored baseline and `run` have nothing of it.
        assert!(!scenario.required.contains(&Layer::Jfr));
    }

    #[test]
    fn mistakes_are_refused_with_their_place() {
        let cases = [
            "name = \"x\"\nbugdet = 1\n".to_owned() + PROGRAM,
            "name = \"x\"\n".to_owned() + PROGRAM + "check_only = true\n",
            "name = \"x\"\n".to_owned() + PROGRAM + "layers = [\"asgct-step\", \"asgst-step\"]\n",
            "name = \"x\"\n".to_owned() + PROGRAM + "sampling = { steps = 1 }\n",
            "name = 1\n".to_owned() + PROGRAM,
            "name = \"x\"\n[budget]\ngst = 2.5\n".to_owned() + PROGRAM,
            "name = \"x\"\n[budget]\ngst = -0.1\n".to_owned() + PROGRAM,
            "name = \"x\"\n[budget]\ngst = nan\n".to_owned() + PROGRAM,
            "name = \"x\"\n[budget]\nasgst = 0\n".to_owned() + PROGRAM,
            "name = \"x\"\nlayers = []\n".to_owned() + PROGRAM,
            "name = \"x\"\n[sampling]\nprobability = 7\n".to_owned() + PROGRAM,
            "name = \"x\"\nlayers = [\"gst\"]\n[sampling]\nchosen_instants = true\n".to_owned() + PROGRAM,
            "name = \"x\"\nlayers = [\"gst\"]\n[sampling]\naltered = { walks = 5 }\n".to_owned() + PROGRAM,
            "name = \"x\"\n[sampling]\naltered = { walks = 0 }\n".to_owned() + PROGRAM,
            "name = \"x\"\nlayers = [\"asgct-step\", \"asgst-step\"]\n".to_owned() + PROGRAM,
            "name = \"x\"\n[matrix]\nrepetitions = 0\n".to_owned() + PROGRAM,
            "name = \"x\"\n[matrix.axes.gc]\n".to_owned() + PROGRAM,
            "name = \"x\"\nprogram = []\n".into(),
            "name = \"x\"\n".to_owned() + PROGRAM + PROGRAM,
            "name = \"x\"\n[[program]]\nname = \"p\"\n".into(),
            "name = \"x\"\n[[program]]\nname = \"../p\"\njavac = { seconds = 1 }\n".into(),
            "name = \"x\"\n[[program]]\nname = \"p\"\njavac = { seconds = 0 }\n".into(),
            "name = \"x\"\n[[program]]\nname = \"p\"\njavac = { second = 1 }\n".into(),
            "name = \"x\"\n[[program]]\nname = \"p\"\nfixtures = { seconds = 1, names = [\"no\"] }\n".into(),
            "name = \"x\n".into(),
            "".into(),
            "name = \"\"\n".to_owned() + PROGRAM,
            "name = \"x\"\nlayers = [\"gst\", \"ground\", \"gst\"]\n".to_owned() + PROGRAM,
            "name = \"x\"\n[sampling]\ninterval_us = 0\n".to_owned() + PROGRAM,
            "name = \"x\"\n[sampling]\ninterval_us = 9223372036854775807\n".to_owned() + PROGRAM,
            "name = \"x\"\n[sampling]\ninterval_us = 18446744073709551615\n".to_owned() + PROGRAM,
            "name = \"x\"\n[sampling]\ninterval_us = -1\n".to_owned() + PROGRAM,
            "name = \"x\"\n[sampling]\nno_pause = true\ninterval_us = 5\n".to_owned() + PROGRAM,
            "name = \"x\"\n[sampling]\ngst_every = 4294967295\n".to_owned() + PROGRAM,
            "name = \"x\"\n[sampling]\nevidence_limit = 4000000000\n".to_owned() + PROGRAM,
            "name = \"x\"\n[sampling]\ncheck_share = inf\n".to_owned() + PROGRAM,
            "name = \"x\"\n[sampling]\ninclude = []\n".to_owned() + PROGRAM,
            "name = \"x\"\n[sampling]\nexclude = [\"\"]\n".to_owned() + PROGRAM,
            "name = \"x\"\n[matrix]\nrepetitions = 4000000000\n".to_owned() + PROGRAM,
            "name = \"x\"\n[matrix]\njdks = []\n".to_owned() + PROGRAM,
            "name = \"x\"\n[matrix]\njdks = [\"a\", \"a\"]\n".to_owned() + PROGRAM,
            "name = \"x\"\n[matrix.axes.\"\"]\na = []\n".to_owned() + PROGRAM,
            "name = \"x\"\n[matrix.axes.x]\na = { layers = [\"jfx\"] }\n".to_owned() + PROGRAM,
            "name = \"x\"\ntime_budget_s = nan\n".to_owned() + PROGRAM,
            "name = \"x\"\n[[program]]\nname = \"p\"\njava = []\n".into(),
            "name = \"x\"\n[[program]]\nname = \"p\"\njava = [\"a\\u0000b\"]\n".into(),
            "name = \"x\"\n[[program]]\nname = \"p\"\njavac = { seconds = 1e300 }\n".into(),
            "name = \"x\"\n[[program]]\nname = \"p\"\njavac = { seconds = 1 }\ndeadline_s = inf\n".into(),
            "name = \"x\"\n[[program]]\nname = \"p\"\nfixtures = { seconds = 1, names = [] }\n".into(),
            "name = \"x\"\n[[program]]\nname = \"p\"\nsuite = { kind = \"dacapo\", benchmarks = [] }\n".into(),
            "name = \"x\"\n[[program]]\nname = \"p\"\nsuite = { kind = \"dacapo\", repetitions = 0 }\n".into(),
            "name = \"x\"\n".to_owned() + PROGRAM + "probability = 1.5\n",
        ];
        let told: Vec<_> = cases
            .iter()
            .map(|text| parse(text, "f.toml").unwrap_err().to_string())
            .collect();
        let layers = Layer::ALL.map(Layer::name).join(", ");
        insta::assert_snapshot!(told.join("\n").replace(&layers, "LAYERS"));
    }
}
