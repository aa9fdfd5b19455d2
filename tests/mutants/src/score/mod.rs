//! The score of a gate: the mutants that it fails, by which layer and after how many checks; and
//! whether it passes honest VMs.
//!
//! * [`trial`]: a VM that the gate must fail or pass;
//! * [`gate`]: the judging command, run on a trial;
//! * [`evidence`]: the results of the command;
//! * [`table`]: the score as Markdown.

mod evidence;
mod gate;
mod table;
mod trial;

use crate::error::Error;
use gate::Gate;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use trial::Result as Judged;
pub use trial::Trial;

/// The gate that is tried if the user names no other.
const DEFAULT: [&str; 4] = ["cargo", "test", "--test", "gate"];

/// The options of `run`.
#[derive(Debug, clap::Args)]
pub struct Wishes {
    /// Where logs, reports and the score go
    #[arg(long, default_value = "mutants-out")]
    out: PathBuf,
    /// Try these mutants only
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<String>,
    /// Try each honest VM this many times
    #[arg(long, default_value_t = 1)]
    pub honest: u32,
    /// End the command after this many seconds
    #[arg(long, default_value_t = 1800)]
    deadline: u64,
    /// Where the command leaves its report.json, at any depth
    #[arg(long, default_value = "target/tmp/gate")]
    reports: PathBuf,
    /// The command that judges the JDK in JAVA_HOME; `{jdk}` stands for the JDK's path
    /// [default: cargo test --test gate, built before the clock starts]
    #[arg(last = true)]
    command: Vec<String>,
}

impl Wishes {
    fn command(&self) -> Vec<String> {
        if self.command.is_empty() {
            return DEFAULT.map(String::from).into();
        }
        self.command.clone()
    }

    /// Builds the default command's test for a JDK, which compiles the fixtures.
    fn prepare(&self, jdk: &Path) -> Result<(), Error> {
        if !self.command.is_empty() {
            return Ok(());
        }
        let [program, words @ ..] = DEFAULT;
        let mut command = Command::new(program);
        command.args(words).arg("--no-run").env("JAVA_HOME", jdk);
        crate::command::run(&mut command)
    }
}

/// Judges each trial that has no result yet, and writes the score after each trial. Returns whether
/// the gate failed all mutants and passed all honest VMs.
pub fn run(wishes: &Wishes, trials: &[Trial]) -> Result<bool, Error> {
    let gate = Gate {
        command: wishes.command(),
        reports: wishes.reports.clone(),
        deadline: std::time::Duration::from_secs(wishes.deadline),
    };
    let mut judged: Vec<Judged> = vec![];
    for trial in trials {
        let folder = wishes.out.join(&trial.name);
        let kept = folder.join("result.json");
        let result = match fs::read(&kept)
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())
        {
            Some(result) => result,
            None => {
                eprintln!("{}: {}", trial.name, trial.does);
                fs::create_dir_all(&folder).map_err(Error::at(&folder))?;
                wishes.prepare(&trial.jdk)?;
                let result = gate.judge(trial, &folder)?;
                let text = serde_json::to_vec_pretty(&result).unwrap_or_default();
                fs::write(&kept, text).map_err(Error::at(&kept))?;
                result
            }
        };
        eprintln!("{}: {}", trial.name, table::sentence(&result));
        judged.push(result);
        let score = wishes.out.join("score.md");
        fs::write(&score, table::render(&judged)).map_err(Error::at(&score))?;
    }
    print!("{}", table::render(&judged));
    Ok(judged.iter().all(Judged::is_right))
}
