//! Scenario files: what may stand in them, and where something must not.

use super::{Matrix, Program, Sampling, Scenario, Start, Suite, SuiteKind, default_budget};
use crate::Error;
use crate::text::position;
use oracle::{Hooking, Layer};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;
use toml::Spanned;

/// Reads a scenario; `file` names it in messages.
pub(super) fn parse(text: &str, file: &str) -> Result<Scenario, Error> {
    let fail = |span: Range<usize>, message: &str| {
        let (line, column) = position(text, span.start);
        Error::Scenario(format!("{file}:{line}:{column}: {}", message.trim_end()))
    };
    let read: File =
        toml::from_str(text).map_err(|e| fail(e.span().unwrap_or(0..0), e.message()))?;
    read.check().map_err(|(span, message)| fail(span, &message))
}

/// A scenario as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default)]
    cargo_test: bool,
    time_budget_s: Option<Spanned<f64>>,
    layers: Option<Spanned<Vec<Layer>>>,
    #[serde(default)]
    budget: BTreeMap<Layer, Spanned<f64>>,
    #[serde(default)]
    sampling: FileSampling,
    #[serde(default)]
    matrix: FileMatrix,
    program: Spanned<Vec<Spanned<FileProgram>>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileSampling {
    interval_us: Option<u64>,
    gst_every: Option<u32>,
    check_share: Option<Spanned<f64>>,
    probability: Option<Spanned<f64>>,
    evidence_limit: Option<u32>,
    include: Vec<String>,
    exclude: Vec<String>,
    check: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileMatrix {
    jdks: Vec<String>,
    axes: BTreeMap<String, Spanned<BTreeMap<String, Vec<String>>>>,
    repetitions: Option<Spanned<u32>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileProgram {
    name: Spanned<String>,
    fixtures: Option<Fixtures>,
    javac: Option<Javac>,
    java: Option<Vec<String>>,
    suite: Option<FileSuite>,
    #[serde(default)]
    jvm_args: Vec<String>,
    #[serde(default)]
    hooks: Hooking,
    deadline_s: Option<Spanned<f64>>,
    #[serde(default)]
    files: BTreeMap<Spanned<String>, String>,
    #[serde(default)]
    needs: Vec<PathBuf>,
    install: Option<String>,
    #[serde(default = "yes")]
    baseline: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixtures {
    #[serde(default)]
    names: Vec<Spanned<String>>,
    seconds: Spanned<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Javac {
    seconds: Spanned<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSuite {
    kind: SuiteKind,
    jar: Option<PathBuf>,
    #[serde(default)]
    benchmarks: Vec<String>,
    #[serde(default = "one")]
    repetitions: u32,
}

fn yes() -> bool {
    true
}

fn one() -> u32 {
    1
}

/// Where something is wrong, and what.
type Complaint = (Range<usize>, String);

impl File {
    fn check(self) -> Result<Scenario, Complaint> {
        let mut budget = default_budget();
        for (layer, limit) in &self.budget {
            budget.0.insert(
                *layer,
                share(limit, "a budget is the highest share of mismatches allowed")?,
            );
        }
        let sampling = self.sampling.check()?;
        let matrix = self.matrix.check()?;
        let layers = match self.layers {
            Some(layers) if layers.get_ref().is_empty() => {
                return Err((
                    layers.span(),
                    "a scenario without layers measures nothing".into(),
                ));
            }
            Some(layers) => layers.into_inner(),
            None => Layer::ALL.into(),
        };
        if self.program.get_ref().is_empty() {
            return Err((
                self.program.span(),
                "a scenario needs at least one program".into(),
            ));
        }
        let mut programs: Vec<Program> = vec![];
        for program in self.program.into_inner() {
            let span = program.get_ref().name.span();
            let program = Program {
                sampling: sampling.clone(),
                matrix: matrix.clone(),
                layers: layers.clone(),
                ..program.get_ref().check(program.span())?
            };
            if programs.iter().any(|other| other.name == program.name) {
                return Err((
                    span,
                    format!("there are two programs named `{}`", program.name),
                ));
            }
            programs.push(program);
        }
        let time_budget = self
            .time_budget_s
            .map(|s| seconds(&s, "time_budget_s"))
            .transpose()?;
        let mut scenario = Scenario {
            name: self.name,
            cargo_test: self.cargo_test,
            budget,
            required: vec![],
            programs,
            time_budget: time_budget.map(Duration::from_secs_f64),
        };
        scenario.required = scenario.measured();
        Ok(scenario)
    }
}

impl FileSampling {
    fn check(self) -> Result<Sampling, Complaint> {
        let usual = Sampling::default();
        let share =
            |value: Option<Spanned<f64>>, usual, what| value.map_or(Ok(usual), |v| share(&v, what));
        Ok(Sampling {
            interval_us: self.interval_us.unwrap_or(usual.interval_us),
            gst_every: self.gst_every.unwrap_or(usual.gst_every),
            check_share: share(
                self.check_share,
                usual.check_share,
                "check_share is a share of time",
            )?,
            probability: share(
                self.probability,
                usual.probability,
                "probability is a share of methods",
            )?,
            evidence_limit: self.evidence_limit.unwrap_or(usual.evidence_limit),
            include: self.include,
            exclude: self.exclude,
            check: self.check,
            sabotage: usual.sabotage,
            sabotage_one_in: usual.sabotage_one_in,
            lies: usual.lies,
            record_samples: usual.record_samples,
        })
    }
}

impl FileMatrix {
    fn check(self) -> Result<Matrix, Complaint> {
        let mut axes = BTreeMap::new();
        for (name, values) in self.axes {
            if values.get_ref().is_empty() {
                return Err((values.span(), format!("the axis `{name}` has no values")));
            }
            axes.insert(name, values.into_inner());
        }
        let repetitions = match self.repetitions {
            Some(n) if *n.get_ref() == 0 => {
                return Err((n.span(), "repetitions are at least 1".into()));
            }
            Some(n) => n.into_inner(),
            None => 1,
        };
        Ok(Matrix {
            jdks: self.jdks,
            axes,
            repetitions,
        })
    }
}

impl FileProgram {
    fn check(&self, span: Range<usize>) -> Result<Program, Complaint> {
        check_name(&self.name, "a program's name")?;
        for name in self.files.keys() {
            check_name(name, "a file's name")?;
        }
        let (start, time) = match (&self.fixtures, &self.javac, &self.java, &self.suite) {
            (Some(fixtures), None, None, None) => fixtures.check()?,
            (None, Some(javac), None, None) => {
                let seconds = seconds(&javac.seconds, "seconds")?;
                (Start::Javac { seconds }, seconds)
            }
            (None, None, Some(args), None) => (Start::Java(args.clone()), 0.0),
            (None, None, None, Some(suite)) => {
                let suite = Suite {
                    kind: suite.kind,
                    jar: suite.jar.clone(),
                    benchmarks: suite.benchmarks.clone(),
                    repetitions: suite.repetitions,
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
            Some(deadline) => seconds(deadline, "deadline_s")?,
            // Interpreted code with hooks on a busy machine is many times slower.
            None => time * 4.0 + 120.0,
        };
        Ok(Program {
            jvm_args: self.jvm_args.clone(),
            hooks: self.hooks,
            deadline: Some(Duration::from_secs_f64(deadline)),
            files: self
                .files
                .iter()
                .map(|(k, v)| (k.get_ref().clone(), v.clone()))
                .collect(),
            needs: self.needs.clone(),
            install: self.install.clone(),
            baseline: self.baseline,
            ..Program::new(self.name.get_ref(), start)
        })
    }
}

impl Fixtures {
    fn check(&self) -> Result<(Start, f64), Complaint> {
        for name in &self.names {
            let known = [java_fixtures::FIXTURE_NAMES, java_fixtures::STRESS_NAMES].concat();
            if !known.contains(&name.get_ref().as_str()) {
                return Err((name.span(), format!("no fixture `{}`", name.get_ref())));
            }
        }
        let seconds = seconds(&self.seconds, "seconds")?;
        let names = self
            .names
            .iter()
            .map(|name| name.get_ref().clone())
            .collect();
        Ok((Start::Fixtures { names, seconds }, seconds))
    }
}

/// Names become names of folders, also on other machines.
fn check_name(name: &Spanned<String>, what: &str) -> Result<(), Complaint> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let text = name.get_ref();
    if text.is_empty() || text.starts_with('.') || !text.chars().all(plain) {
        let message =
            format!("{what} has only letters, digits, `-`, `_` and `.`, and no `.` in front");
        return Err((name.span(), message));
    }
    Ok(())
}

fn share(value: &Spanned<f64>, what: &str) -> Result<f64, Complaint> {
    match *value.get_ref() {
        share if (0.0..=1.0).contains(&share) => Ok(share),
        other => Err((value.span(), format!("{what}: from 0 to 1, not {other}"))),
    }
}

fn seconds(value: &Spanned<f64>, what: &str) -> Result<f64, Complaint> {
    match *value.get_ref() {
        seconds if seconds > 0.0 && seconds <= 1e6 => Ok(seconds),
        other => Err((
            value.span(),
            format!("{what} is a time above 0 and up to 1000000, not {other}"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::BUILT_IN;
    use super::*;

    const PROGRAM: &str = "[[program]]\nname = \"p\"\nfixtures = { seconds = 1 }\n";

    #[test]
    fn those_we_bring_can_be_read() {
        for (name, text) in BUILT_IN {
            let scenario = parse(text, name).unwrap();
            assert_eq!(&scenario.name, name);
            assert!(text.starts_with('#'), "{name} does not say what it is for");
        }
    }

    #[test]
    fn what_must_not_be_is_refused_with_its_place() {
        let cases = [
            "name = \"x\"\nbugdet = 1\n".to_owned() + PROGRAM,
            "name = 1\n".to_owned() + PROGRAM,
            "name = \"x\"\n[budget]\ngst = 2.5\n".to_owned() + PROGRAM,
            "name = \"x\"\n[budget]\ngst = -0.1\n".to_owned() + PROGRAM,
            "name = \"x\"\n[budget]\ngst = nan\n".to_owned() + PROGRAM,
            "name = \"x\"\n[budget]\nasgst = 0\n".to_owned() + PROGRAM,
            "name = \"x\"\nlayers = []\n".to_owned() + PROGRAM,
            "name = \"x\"\n[sampling]\nprobability = 7\n".to_owned() + PROGRAM,
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
        ];
        let told: Vec<_> = cases
            .iter()
            .map(|text| parse(text, "f.toml").unwrap_err().to_string())
            .collect();
        insta::assert_snapshot!(told.join("\n"));
    }
}
