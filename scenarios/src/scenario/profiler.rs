//! The profiler that a run judges.

use crate::Error;
use joining::profiler::{Description, Started};
use oracle::report::GivenProfiler;
use std::path::{Path, PathBuf};

/// A profiler: an agent library that samples by signals.
#[derive(Clone, Debug, PartialEq)]
pub struct Profiler {
    /// Its library.
    pub library: PathBuf,
    /// The user's own options for it.
    pub options: Option<String>,
    /// What is to be known of it.
    pub description: Description,
}

impl Profiler {
    /// The profiler of `PATH` or `PATH=OPTIONS`. `description` is a file that describes it; without one the profiler must
    /// be known.
    pub fn find(given: &str, description: Option<&Path>) -> Result<Profiler, Error> {
        let (path, options) = match given.split_once('=') {
            Some((path, options)) => (path, Some(options.to_owned())),
            None => (given, None),
        };
        let library = Path::new(path).canonicalize().map_err(|e| {
            let told = format!(
                "no library of a profiler at {path}: {e}; give the path of its agent library"
            );
            Error::Scenario(told)
        })?;
        let description = match description {
            Some(file) => read(file)?,
            None => Description::of(&library).ok_or_else(|| {
                let known = Description::built_in().into_iter().map(|known| known.library);
                let known = known.collect::<Vec<_>>().join(".so, ");
                Error::Scenario(format!(
                    "{path} is none of the profilers that are known ({known}.so): describe it in a file for \
                     --profiler-file (docs/guide/profiler.md)"
                ))
            })?,
        };
        Ok(Profiler {
            library,
            options,
            description,
        })
    }

    /// Itself, with these options, too.
    pub(crate) fn with(mut self, further: &[String]) -> Profiler {
        if !further.is_empty() {
            let own = self.options.take();
            let own = own.unwrap_or_else(|| self.description.options.clone());
            self.options = Some(format!("{own},{}", further.join(",")));
        }
        self
    }

    /// As the folder of a run has it.
    pub(crate) fn started(&self) -> Started {
        self.description.started(self.options.as_deref())
    }

    /// Its name in reports.
    pub(crate) fn named(&self) -> GivenProfiler {
        self.description.named(self.options.as_deref())
    }

    /// The option of `java` that loads it. It writes its recording to the folder `dir` of the run.
    pub(crate) fn option(&self, dir: &Path) -> String {
        let recording = joining::recording(dir);
        let options = self
            .description
            .options(self.options.as_deref(), &recording);
        format!("-agentpath:{}={options}", self.library.display())
    }
}

fn read(file: &Path) -> Result<Description, Error> {
    let name = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|e| Error::Scenario(format!("cannot read {name}: {e}")))?;
    Description::parse(&text).map_err(|e| Error::Scenario(format!("{name}: {e}")))
}
