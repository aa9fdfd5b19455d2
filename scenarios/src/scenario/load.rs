//! Scenarios by name, and from files.

use super::file;
use super::model::Scenario;
use crate::Error;
use crate::text::nearest;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The built-in scenarios, by name.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("default", include_str!("../../files/default.toml")),
    ("quick", include_str!("../../files/quick.toml")),
    ("matrix", include_str!("../../files/matrix.toml")),
    ("overhead", include_str!("../../files/overhead.toml")),
    (
        "real-programs",
        include_str!("../../files/real-programs.toml"),
    ),
    ("walkers", include_str!("../../files/walkers.toml")),
    (
        "walkers-long",
        include_str!("../../files/walkers-long.toml"),
    ),
    ("step", include_str!("../../files/step.toml")),
    ("observer", include_str!("../../files/observer.toml")),
    (
        "thread-dumps",
        include_str!("../../files/thread-dumps.toml"),
    ),
    ("jfr", include_str!("../../files/jfr.toml")),
    ("jfr-cpu", include_str!("../../files/jfr-cpu.toml")),
    (
        "jfr-instants",
        include_str!("../../files/jfr-instants.toml"),
    ),
    ("jfr-step", include_str!("../../files/jfr-step.toml")),
    ("profiler", include_str!("../../files/profiler.toml")),
    (
        "profiler-instants",
        include_str!("../../files/profiler-instants.toml"),
    ),
    (
        "profiler-step",
        include_str!("../../files/profiler-step.toml"),
    ),
    ("profilers", include_str!("../../files/profilers.toml")),
    ("bias", include_str!("../../files/bias.toml")),
    ("stability", include_str!("../../files/stability.toml")),
    ("stress", include_str!("../../files/stress.toml")),
    ("renaissance", include_str!("../../files/renaissance.toml")),
    ("dacapo", include_str!("../../files/dacapo.toml")),
    ("test", include_str!("../../files/test.toml")),
];

impl Scenario {
    /// A built-in scenario or a scenario of `more` by name, or the scenario in a file. `more` has
    /// names and texts.
    pub fn load(name: &str, more: &[(&str, &str)]) -> Result<Scenario, Error> {
        let known = || BUILT_IN.iter().chain(more);
        if let Some((_, text)) = known().find(|(known, _)| *known == name) {
            return Scenario::parse(text, name);
        }
        match fs::read_to_string(name) {
            Ok(text) => Scenario::parse(&text, name),
            Err(_) if name.contains('/') && !Path::new(name).exists() => {
                Err(Error::Scenario(format!(
                    "there is no scenario file {name}; `stackwitness scenarios` lists those that are built in"
                )))
            }
            Err(_) if !Path::new(name).exists() => Err(Error::NoScenario {
                name: name.into(),
                nearest: nearest(name, known().map(|(known, _)| *known)),
                known: known()
                    .map(|(known, _)| *known)
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
            Err(_) if Path::new(name).is_dir() => Err(Error::Scenario(format!(
                "{name} is a folder: give the file of a scenario, or the name of a built-in one"
            ))),
            Err(e) if e.kind() == ErrorKind::InvalidData => Err(Error::Scenario(format!(
                "{name} is no text: give a scenario file, as docs/scenarios.md shows"
            ))),
            Err(e) => Err(Error::Scenario(format!("{name}: {e}"))),
        }
    }

    /// Reads a scenario; `file` names it in messages.
    pub fn parse(text: &str, file: &str) -> Result<Scenario, Error> {
        file::parse(text, file)
    }
}
