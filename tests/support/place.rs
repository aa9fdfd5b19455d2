//! A folder in which commands run.

use super::{Output, fake_jdk, report, run, stackwitness};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of a test, and the JDK of its commands. Paths in commands and names of files are relative to the folder.
pub struct Place {
    dir: tempfile::TempDir,
    jdk: Option<PathBuf>,
}

impl Place {
    /// A folder for commands that need no JDK.
    pub fn new() -> Place {
        Place {
            dir: tempfile::tempdir().expect("a folder"),
            jdk: None,
        }
    }

    /// A folder for commands on this JDK.
    pub fn on(jdk: &Path) -> Place {
        Place {
            jdk: Some(jdk.into()),
            ..Place::new()
        }
    }

    /// A folder for commands on a JDK whose `java` is this script, as [`fake_jdk`] describes. The JDK is the folder `jdk`.
    pub fn with_fake_jdk(script: &str) -> Place {
        Place::new().with_jdk(|folder| fake_jdk(folder, script))
    }

    /// The same folder for commands on a JDK that `make` makes in it.
    pub fn with_jdk(self, make: impl FnOnce(&Path) -> PathBuf) -> Place {
        let jdk = Some(make(self.dir.path()));
        Place { jdk, ..self }
    }

    /// The absolute path of a file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap_or_else(|e| panic!("{name}: {e}"));
    }

    /// The text of a file.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The report in a folder of results.
    pub fn report(&self, folder: &str) -> oracle::report::Report {
        report(&self.path(folder))
    }

    /// `stackwitness` with these words, which spaces separate.
    pub fn command(&self, words: &str) -> Command {
        let mut command = stackwitness();
        command.args(words.split(' ')).current_dir(&self.dir);
        command.envs(self.jdk.iter().map(|jdk| ("JAVA_HOME", jdk)));
        command
    }

    /// Runs `stackwitness` with these words, which spaces separate, to its end.
    #[track_caller]
    pub fn run(&self, words: &str) -> Output {
        run(&mut self.command(words))
    }

    /// Compiles a class into the folder. Returns whether the JDK can, and prints it if not.
    #[track_caller]
    pub fn compiles(&self, class: &str, source: &str) -> bool {
        let jdk = self.jdk.as_ref().expect("a JDK");
        let javac = jdk.join("bin/javac");
        if !javac.exists() {
            println!("skipped: {} has no compiler", jdk.display());
            return false;
        }
        let file = format!("{class}.java");
        self.write(&file, source);
        let mut javac = Command::new(javac);
        run(javac.args(["-d", ".", &file]).current_dir(&self.dir)).ok();
        true
    }
}
