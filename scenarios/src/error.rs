use std::io;
use std::path::PathBuf;

/// Why a job could not be done. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No JDK was found anywhere.
    #[error(
        "no JDK found: give one with --jdk HOME, set JAVA_HOME, or put `java` on the PATH \
         (looked in {looked_in} too)"
    )]
    NoJdk {
        /// The usual places of the platform.
        looked_in: String,
    },
    /// A folder that was named as a JDK is no JDK.
    #[error("no JDK in {home} (from {from}): there is no bin/java in it{remedy}", home = .home.display())]
    NotAJdk {
        /// The folder.
        home: PathBuf,
        /// What named the folder.
        from: &'static str,
        /// What may have been meant: the folder of a JDK whose `java` was named, or the JDKs of this machine. The end of a
        /// sentence; empty if nothing is known.
        remedy: String,
    },
    /// The JDK is older than those that can be judged.
    #[error(
        "{home} is JDK {version}; the oldest that can be judged is {oldest}: give another with --jdk",
        home = .home.display()
    )]
    TooOld {
        /// The folder.
        home: PathBuf,
        /// Its version.
        version: String,
        /// The oldest feature release that Stackwitness judges.
        oldest: u32,
    },
    /// A library of Stackwitness cannot be given to the JVM.
    #[error("no {name} for the JVM: {source}")]
    Library {
        /// Its file name.
        name: &'static str,
        /// The reason.
        source: io::Error,
    },
    /// No such scenario.
    #[error("no scenario `{name}`: {nearest}it is neither a file nor one of {known}")]
    NoScenario {
        /// The name that the user gave.
        name: String,
        /// The most similar name, as a part of a sentence; empty if none is similar.
        nearest: String,
        /// The built-in scenarios.
        known: String,
    },
    /// A scenario file has a mistake.
    #[error("{0}")]
    Scenario(String),
    /// A suite's jar is missing or does not answer.
    #[error("{name}: {why}")]
    Suite {
        /// The suite.
        name: &'static str,
        /// What is wrong, or where to get the jar.
        why: String,
    },
    /// The folder for the results cannot be used.
    #[error("cannot write to {path}: {source}; name another place with -o", path = .path.display())]
    Out {
        /// The folder or file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another process writes to the folder for the results.
    #[error(
        "{path} is in use by {holder}; wait for its end, or give another folder with -o",
        path = .path.display()
    )]
    Busy {
        /// The folder.
        path: PathBuf,
        /// The other process.
        holder: String,
    },
    /// Reports do not belong together.
    #[error(
        "cannot merge: {0}; give the reports of the parts of one plan (`stackwitness plan`), each once"
    )]
    Merge(String),
    /// A baseline cannot be read or made.
    #[error("{path}: {why}", path = .path.display())]
    Baseline {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There is no report.
    #[error("there is no report {path}: `stackwitness run` writes one", path = .path.display())]
    NoReport {
        /// The file.
        path: PathBuf,
    },
    /// A report cannot be read.
    #[error("cannot read {path}: {why}", path = .path.display())]
    Report {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl Error {
    /// Whether the user must change the request. Otherwise the machine lacks something.
    pub fn is_usage(&self) -> bool {
        let is_absent = matches!(self, Error::Baseline { path, .. } if !path.exists());
        is_absent
            || matches!(
                self,
                Error::NoScenario { .. }
                    | Error::NotAJdk { .. }
                    | Error::TooOld { .. }
                    | Error::NoReport { .. }
                    | Error::Scenario(_)
                    | Error::Suite { .. }
                    | Error::Merge(_)
                    | Error::Out { .. }
                    | Error::Busy { .. }
            )
    }
}
