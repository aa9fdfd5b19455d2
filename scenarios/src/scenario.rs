//! What a scenario file says: programs, how to sample them, and what may go wrong.

use crate::Error;
use oracle::Layer;
use oracle::budget::Budget;
use oracle::record::{Config, Sabotage};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;
use toml::Spanned;

/// The scenarios that we bring, by name.
pub const BUILT_IN: &[(&str, &str)] = &[("default", include_str!("../files/default.toml"))];

/// What to run and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// The highest mismatch rates allowed.
    pub budget: Budget,
    /// Layers without which the outcome says too little.
    pub required: Vec<Layer>,
    /// The programs, in order.
    pub programs: Vec<Program>,
    /// How to sample.
    pub sampling: Sampling,
}

/// One program of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Its name in reports.
    pub name: String,
    /// What is started.
    pub start: Start,
    /// Options for the JVM.
    pub jvm_args: Vec<String>,
    /// Whether its classes are rewritten.
    pub hooks: bool,
    /// After this time it is ended and counts as hung; `None`: never.
    pub deadline: Option<Duration>,
}

/// What is started.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// Our fixtures.
    Fixtures {
        /// Their names; empty: all that run by default.
        names: Vec<String>,
        /// How long all of them together run.
        seconds: f64,
    },
    /// The JDK's own compiler over generated sources.
    Javac {
        /// How long it goes on.
        seconds: f64,
    },
    /// These arguments of `java`, with our input and output.
    Java(Vec<String>),
}

/// How to sample and what to write down.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sampling {
    /// Average pause between two samples, in microseconds.
    pub interval_us: u64,
    /// Every so many samples one is followed by a GetStackTrace.
    pub gst_every: u32,
    /// Share of a thread's time that checks may take.
    pub check_share: Spanned<f64>,
    /// Probability with which a method is hooked.
    pub probability: Spanned<f64>,
    /// How many mismatches are written down per layer and verdict.
    pub evidence_limit: u32,
    /// Patterns of methods to hook; empty: all.
    pub include: Vec<String>,
    /// Patterns of methods to leave alone.
    pub exclude: Vec<String>,
    /// Breaks the agent on purpose.
    #[serde(skip)]
    pub sabotage: Option<Sabotage>,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling {
            interval_us: 200,
            gst_every: 16,
            check_share: Spanned::new(0..0, 0.1),
            probability: Spanned::new(0..0, 1.0),
            evidence_limit: 50,
            include: vec![],
            exclude: vec![],
            sabotage: None,
        }
    }
}

impl Sampling {
    /// What the agent is told.
    pub(crate) fn config(
        &self,
        run_dir: &Path,
        trace_class: &Path,
        seed: u64,
        hooks: bool,
    ) -> Config {
        Config {
            run_dir: run_dir.into(),
            trace_class: trace_class.into(),
            seed,
            hooks,
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            probability: *self.probability.get_ref(),
            check_share: *self.check_share.get_ref(),
            sample_interval_us: self.interval_us,
            gst_every: self.gst_every,
            evidence_limit: self.evidence_limit,
            sabotage: self.sabotage,
        }
    }
}

/// The layers that a program measures.
pub fn layers_of(hooks: bool) -> &'static [Layer] {
    if hooks {
        &Layer::ALL
    } else {
        &[Layer::AsgctGst]
    }
}

impl Scenario {
    /// A scenario of ours by name, or the one in a file.
    pub fn load(name: &str) -> Result<Scenario, Error> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return Scenario::parse(text, name);
        }
        match fs::read_to_string(name) {
            Ok(text) => Scenario::parse(&text, name),
            Err(_) if !Path::new(name).exists() => Err(Error::NoScenario {
                name: name.into(),
                known: BUILT_IN
                    .iter()
                    .map(|(known, _)| *known)
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
            Err(e) => Err(Error::Scenario(format!("{name}: {e}"))),
        }
    }

    /// The program of `run -- JAVA_ARGS`: any program, with our standard streams.
    pub fn of_user(args: Vec<String>, deadline: Option<Duration>) -> Scenario {
        Scenario {
            name: "user".into(),
            budget: default_budget(),
            required: vec![],
            programs: vec![Program {
                name: "program".into(),
                start: Start::Java(args),
                jvm_args: vec![],
                hooks: true,
                deadline,
            }],
            sampling: Sampling::default(),
        }
    }

    /// Reads a scenario; `file` names it in messages.
    pub fn parse(text: &str, file: &str) -> Result<Scenario, Error> {
        let fail = |span: Range<usize>, message: &str| {
            let (line, column) = position(text, span.start);
            Error::Scenario(format!("{file}:{line}:{column}: {message}"))
        };
        let read: File =
            toml::from_str(text).map_err(|e| fail(e.span().unwrap_or(0..0), e.message()))?;
        read.check().map_err(|(span, message)| fail(span, &message))
    }
}

fn default_budget() -> Budget {
    let sampled = |layer| matches!(layer, Layer::AsgctAsync | Layer::AsgctGst);
    Budget(
        Layer::ALL
            .map(|layer| (layer, if sampled(layer) { 0.001 } else { 0.0 }))
            .into(),
    )
}

/// A scenario as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default)]
    budget: BTreeMap<Layer, Spanned<f64>>,
    #[serde(default)]
    sampling: Sampling,
    program: Spanned<Vec<Spanned<FileProgram>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileProgram {
    name: Spanned<String>,
    fixtures: Option<Fixtures>,
    javac: Option<Javac>,
    #[serde(default)]
    jvm_args: Vec<String>,
    #[serde(default = "yes")]
    hooks: bool,
    deadline_s: Option<Spanned<f64>>,
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

fn yes() -> bool {
    true
}

type Complaint = (Range<usize>, String);

impl File {
    fn check(self) -> Result<Scenario, Complaint> {
        let mut budget = default_budget();
        for (layer, limit) in self.budget {
            budget.0.insert(
                layer,
                share(
                    &limit,
                    "a budget is the highest share of mismatches allowed",
                )?,
            );
        }
        share(&self.sampling.check_share, "check_share is a share of time")?;
        share(
            &self.sampling.probability,
            "probability is a share of methods",
        )?;
        if self.program.get_ref().is_empty() {
            return Err((
                self.program.span(),
                "a scenario needs at least one program".into(),
            ));
        }
        let programs = self
            .program
            .into_inner()
            .into_iter()
            .map(|program| check_program(program.span(), program.into_inner()))
            .collect::<Result<Vec<_>, _>>()?;
        let required = Layer::ALL
            .into_iter()
            .filter(|layer| programs.iter().any(|p| layers_of(p.hooks).contains(layer)))
            .collect();
        Ok(Scenario {
            name: self.name,
            budget,
            required,
            programs,
            sampling: self.sampling,
        })
    }
}

fn check_program(span: Range<usize>, program: FileProgram) -> Result<Program, Complaint> {
    let name = program.name.get_ref();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || !name.chars().all(plain) {
        return Err((
            program.name.span(),
            "a name has only letters, digits, `-`, `_` and `.`".into(),
        ));
    }
    let (start, seconds) = match (program.fixtures, program.javac) {
        (Some(fixtures), None) => {
            for name in &fixtures.names {
                let name_ = name.get_ref().as_str();
                if !java_fixtures::FIXTURE_NAMES.contains(&name_)
                    && !java_fixtures::STRESS_NAMES.contains(&name_)
                {
                    return Err((name.span(), format!("no fixture `{name_}`")));
                }
            }
            let seconds = positive(&fixtures.seconds, "seconds")?;
            let names = fixtures
                .names
                .into_iter()
                .map(Spanned::into_inner)
                .collect();
            (Start::Fixtures { names, seconds }, seconds)
        }
        (None, Some(javac)) => {
            let seconds = positive(&javac.seconds, "seconds")?;
            (Start::Javac { seconds }, seconds)
        }
        _ => {
            return Err((
                span,
                "a program needs exactly one of `fixtures` and `javac`".into(),
            ));
        }
    };
    let deadline = match &program.deadline_s {
        Some(deadline) => positive(deadline, "deadline_s")?,
        // Interpreted code with hooks on a busy machine is many times slower.
        None => seconds * 4.0 + 120.0,
    };
    Ok(Program {
        name: program.name.into_inner(),
        start,
        jvm_args: program.jvm_args,
        hooks: program.hooks,
        deadline: Some(Duration::from_secs_f64(deadline)),
    })
}

fn share(value: &Spanned<f64>, what: &str) -> Result<f64, Complaint> {
    match *value.get_ref() {
        share if (0.0..=1.0).contains(&share) => Ok(share),
        other => Err((value.span(), format!("{what}: from 0 to 1, not {other}"))),
    }
}

fn positive(value: &Spanned<f64>, what: &str) -> Result<f64, Complaint> {
    match *value.get_ref() {
        seconds if seconds > 0.0 && seconds <= 1e6 => Ok(seconds),
        other => Err((
            value.span(),
            format!("{what} is a time above 0 and up to 1000000, not {other}"),
        )),
    }
}

/// Line and column, from 1, of a byte in `text`.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at.min(text.len()))];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (
        before.matches('\n').count() + 1,
        before[line_start..].chars().count() + 1,
    )
}
