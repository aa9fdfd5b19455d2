//! Putting together what starts a JVM.

use crate::jdk::Jdk;
use crate::scenario::{Program, Sampling, Start};
use crate::{Error, library};
use java_fixtures::Installed;
use oracle::record::SLOTS_FILE;
use oracle::tally::SLOTS;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What all runs of a job share.
pub(crate) struct Kit {
    /// The agent.
    pub agent: PathBuf,
    /// Our Java classes on disk.
    pub classes: Installed,
}

impl Kit {
    /// Finds the agent and writes our classes below `dir`.
    pub fn new(dir: &Path) -> Result<Kit, Error> {
        let agent = library::AGENT.find()?;
        let lib = dir.join("lib");
        let classes =
            java_fixtures::write_to(&lib).map_err(|source| Error::Out { path: lib, source })?;
        Ok(Kit { agent, classes })
    }
}

/// One JVM to start.
pub(crate) struct Launch {
    /// Ready to be spawned.
    pub command: Command,
    /// What is given to `java`, without our own arguments.
    pub java_args: Vec<String>,
}

impl Launch {
    /// Prepares the folder of a run and the command.
    pub fn new(
        kit: &Kit,
        jdk: &Jdk,
        program: &Program,
        sampling: &Sampling,
        seed: u64,
        dir: &Path,
    ) -> Result<Launch, Error> {
        let config = prepare(kit, program, sampling, seed, dir).map_err(|source| Error::Out {
            path: dir.into(),
            source,
        })?;
        let java_args = java_args(kit, jdk, program);
        let mut command = Command::new(jdk.java());
        command
            .arg(format!(
                "-agentpath:{}={}",
                kit.agent.display(),
                config.display()
            ))
            // Ahead of the program's own arguments, so that it can still say otherwise.
            .arg(format!(
                "-XX:ErrorFile={}",
                dir.join("hs_err.log").display()
            ))
            .args(&java_args);
        if !matches!(program.start, Start::Java(_)) {
            let output = |name| {
                File::create(dir.join(name)).map_err(|source| Error::Out {
                    path: dir.join(name),
                    source,
                })
            };
            command
                .stdin(Stdio::null())
                .stdout(output("stdout.txt")?)
                .stderr(output("stderr.txt")?);
        }
        Ok(Launch { command, java_args })
    }
}

/// Writes what the agent reads; returns the path of its configuration.
fn prepare(
    kit: &Kit,
    program: &Program,
    sampling: &Sampling,
    seed: u64,
    dir: &Path,
) -> io::Result<PathBuf> {
    if dir.join("config.json").exists() {
        // Of an earlier job in the same place.
        fs::remove_dir_all(dir)?;
    }
    fs::create_dir_all(dir)?;
    let config = sampling.config(dir, &kit.classes.trace_exact, seed, program.hooks);
    let path = dir.join("config.json");
    fs::write(&path, serde_json::to_vec_pretty(&config)?)?;
    fs::write(dir.join(SLOTS_FILE), [0; SLOTS * size_of::<u64>()])?;
    Ok(path)
}

fn java_args(kit: &Kit, jdk: &Jdk, program: &Program) -> Vec<String> {
    let mut args = program.jvm_args.clone();
    let class_path = || {
        [
            "-cp".to_owned(),
            kit.classes.fixtures_jar.display().to_string(),
        ]
    };
    match &program.start {
        Start::Fixtures { names, seconds } => {
            let count = if names.is_empty() {
                java_fixtures::FIXTURE_NAMES.len()
            } else {
                names.len()
            };
            let millis = (seconds * 1e3 / count as f64).ceil() as u64;
            args.extend(natives(jdk));
            args.extend(class_path());
            args.extend([
                java_fixtures::MAIN_CLASS.into(),
                "--millis".into(),
                millis.to_string(),
            ]);
            args.extend(names.iter().cloned());
        }
        Start::Javac { seconds } => {
            let millis = (seconds * 1e3).ceil() as u64;
            args.extend(class_path());
            args.extend([
                "stackwitness.fixtures.Javac".into(),
                "--millis".into(),
                millis.to_string(),
            ]);
        }
        Start::Java(user) => args.extend(user.iter().cloned()),
    }
    args
}

/// Options for the fixtures that have native methods; without the library they are skipped
/// and say so in their output.
fn natives(jdk: &Jdk) -> Vec<String> {
    let Ok(library) = library::FIXTURE_NATIVES.find() else {
        return vec![];
    };
    let mut args = vec![format!(
        "-Dstackwitness.fixture.natives={}",
        library.display()
    )];
    if jdk.feature().is_none_or(|feature| feature >= 24) {
        args.push("--enable-native-access=ALL-UNNAMED".into());
    }
    args
}
