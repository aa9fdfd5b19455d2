//! Suites of benchmarks, each with its own command line. The list of benchmarks comes from
//! the jar itself, so that any version of a suite works.

use crate::Error;
use crate::jdk::Jdk;
use crate::process::output;
use crate::scenario::{Program, Start, Suite, SuiteKind};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How long a jar may take to list its benchmarks.
const PATIENCE: Duration = Duration::from_secs(60);

impl SuiteKind {
    fn name(self) -> &'static str {
        match self {
            SuiteKind::Renaissance => "renaissance",
            SuiteKind::Dacapo => "dacapo",
        }
    }

    fn source(self) -> &'static str {
        match self {
            SuiteKind::Renaissance => "https://renaissance.dev",
            SuiteKind::Dacapo => "https://www.dacapobench.org",
        }
    }

    fn list(self) -> &'static str {
        match self {
            SuiteKind::Renaissance => "--raw-list",
            SuiteKind::Dacapo => "-l",
        }
    }

    fn arguments(self, repetitions: u32, benchmark: &str) -> [String; 3] {
        let option = match self {
            SuiteKind::Renaissance => "-r",
            SuiteKind::Dacapo => "-n",
        };
        [option.into(), repetitions.to_string(), benchmark.into()]
    }
}

/// A program for each benchmark of `suite`, otherwise like `model`.
pub(crate) fn programs(model: &Program, suite: &Suite, jdk: &Jdk) -> Result<Vec<Program>, Error> {
    let fail = |why: String| Error::Suite {
        name: suite.kind.name(),
        why,
    };
    let Some(jar) = &suite.jar else {
        let source = suite.kind.source();
        return Err(fail(format!(
            "get it from {source} and give it with --jar FILE"
        )));
    };
    let jar = jar
        .canonicalize()
        .map_err(|e| fail(format!("{}: {e}", jar.display())))?;
    let listed = list(suite.kind, &jar, jdk).map_err(fail)?;
    let chosen = if suite.benchmarks.is_empty() {
        &listed
    } else {
        &suite.benchmarks
    };
    if let Some(unknown) = chosen.iter().find(|name| !listed.contains(name)) {
        return Err(fail(format!(
            "no benchmark `{unknown}` in it; it has {}",
            listed.join(", ")
        )));
    }
    Ok(chosen
        .iter()
        .map(|benchmark| {
            let mut args = vec!["-jar".to_owned(), jar.display().to_string()];
            args.extend(suite.kind.arguments(suite.repetitions, benchmark));
            Program {
                name: benchmark.clone(),
                start: Start::Java(args),
                ..model.clone()
            }
        })
        .collect())
}

fn list(kind: SuiteKind, jar: &Path, jdk: &Jdk) -> Result<Vec<String>, String> {
    let mut command = Command::new(jdk.java());
    command
        .arg("-jar")
        .arg(jar)
        .arg(kind.list())
        .stdin(Stdio::null());
    let output =
        output(command, PATIENCE).map_err(|e| format!("cannot list its benchmarks: {e}"))?;
    let names: Vec<String> = output.split_whitespace().map(Into::into).collect();
    let plain = |name: &String| {
        name.chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    if names.is_empty() || !names.iter().all(plain) {
        Err(format!(
            "{} does not answer `{}` with a list of benchmarks",
            jar.display(),
            kind.list()
        ))
    } else {
        Ok(names)
    }
}
