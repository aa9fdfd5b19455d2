//! `stackwitness.toml`: what a user of a folder would say in each command.

use crate::cli::{Command, GateArgs, RunArgs};
use crate::error::Error;
use serde::Deserialize;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The file, in the working folder.
pub const FILE: &str = "stackwitness.toml";

/// What the file says. An option of the command line outweighs it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `--jdk`, one or several.
    #[serde(default)]
    jdk: Jdks,
    /// `--out`, and the report of `gate` and `render`.
    out: Option<PathBuf>,
    /// `--baseline`, of `run` and `gate`.
    baseline: Option<PathBuf>,
    /// `--known`, where a report is judged as `gate` does.
    known: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Jdks {
    One(PathBuf),
    Several(Vec<PathBuf>),
}

impl Default for Jdks {
    fn default() -> Jdks {
        Jdks::Several(vec![])
    }
}

impl Settings {
    /// The settings of the working folder, if it has any.
    pub fn read() -> Result<Settings, Error> {
        match fs::read_to_string(FILE) {
            Ok(text) => Settings::parse(&text),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(Settings::default()),
            Err(e) => Err(Error::usage(format!("{FILE}: {e}"))),
        }
    }

    fn parse(text: &str) -> Result<Settings, Error> {
        toml::from_str(text).map_err(|e| {
            let place = scenarios::toml_mistake(text, &e);
            Error::usage(format!("{FILE}:{place}"))
        })
    }

    /// Adds to a command what its user did not say. Returns the options that were added, as the user would give them.
    pub fn complete(self, command: &mut Command) -> Vec<String> {
        let mut added = Added(vec![]);
        let jdks = match self.jdk {
            Jdks::One(jdk) => vec![jdk],
            Jdks::Several(jdks) => jdks,
        };
        match command {
            Command::Run(args) | Command::Profile(args) => {
                let RunArgs {
                    choice,
                    judging,
                    out,
                    ..
                } = &mut **args;
                added.all("--jdk", &mut choice.jdk, jdks);
                added.one("--out", out, self.out);
                added.one("--baseline", &mut judging.since.baseline, self.baseline);
                if judging.is_gate() {
                    added.one("--known", &mut judging.known, self.known);
                }
            }
            Command::Gate(GateArgs {
                report,
                known,
                since,
                ..
            }) => {
                added.one("", report, self.out);
                added.one("--baseline", &mut since.baseline, self.baseline);
                added.one("--known", known, self.known);
            }
            Command::Render(args) => added.one("", &mut args.report, self.out),
            Command::Plan(args) => added.all("--jdk", &mut args.choice.jdk, jdks),
            Command::Doctor(args) => {
                added.one("--jdk", &mut args.jdk, jdks.into_iter().next());
                added.one("--out", &mut args.out, self.out);
            }
            _ => {}
        }
        added.0
    }
}

/// Options that were added.
struct Added(Vec<String>);

impl Added {
    fn one(&mut self, option: &str, given: &mut Option<PathBuf>, setting: Option<PathBuf>) {
        if given.is_none()
            && let Some(setting) = setting
        {
            self.note(option, &setting);
            *given = Some(setting);
        }
    }

    fn all(&mut self, option: &str, given: &mut Vec<PathBuf>, settings: Vec<PathBuf>) {
        if given.is_empty() {
            settings
                .iter()
                .for_each(|setting| self.note(option, setting));
            *given = settings;
        }
    }

    fn note(&mut self, option: &str, setting: &Path) {
        let words = format!("{option} {}", setting.display());
        self.0.push(words.trim_start().into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    const TEXT: &str = "jdk = '/jdk'\nout = 'o'\nbaseline = 'b.json'\nknown = 'k.toml'\n";

    fn completed(line: &str) -> (Command, Vec<String>) {
        let mut command = Cli::try_parse_from(line.split(' '))
            .expect("a command")
            .command;
        let added = Settings::parse(TEXT)
            .expect("settings")
            .complete(&mut command);
        (command, added)
    }

    #[test]
    fn settings_say_what_the_command_line_does_not() {
        let (command, added) = completed("sw run --out mine");
        let Command::Run(args) = command else {
            panic!("{command:?}");
        };
        assert_eq!(args.choice.jdk, [PathBuf::from("/jdk")]);
        assert_eq!(args.out, Some("mine".into()));
        assert_eq!(
            args.judging.known,
            Some("k.toml".into()),
            "the baseline makes it a gate"
        );
        assert_eq!(added, ["--jdk /jdk", "--baseline b.json", "--known k.toml"]);
        assert_eq!(
            completed("sw gate").1,
            ["o", "--baseline b.json", "--known k.toml"]
        );
        assert!(
            completed("sw gate mine --baseline x --known y")
                .1
                .is_empty()
        );
        assert!(completed("sw compare a b").1.is_empty());
    }

    #[test]
    fn a_mistyped_setting_is_named() {
        let error = Settings::parse("jdks = '/jdk'")
            .expect_err("a mistake")
            .to_string();
        assert!(
            error.contains("jdks") && error.contains("baseline"),
            "{error}"
        );
    }
}
