//! The search for a JDK, and the properties of a JDK that is not running.

use crate::Error;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where Linux distributions put their JDKs.
const USUAL_PLACE: &str = "/usr/lib/jvm";

/// What names the folders of a search, which need not be JDKs.
const SEARCH: &str = "search";

/// The oldest feature release that can be judged.
pub(crate) const OLDEST: u32 = 17;

/// Whether a version such as `11.0.2` or `17.0.15+6` is of a JDK that is too old to be judged.
pub(crate) fn is_too_old(version: &str) -> bool {
    // Up to JDK 8 the version begins with `1.`.
    feature(version).is_some_and(|feature| feature < OLDEST)
}

fn feature(version: &str) -> Option<u32> {
    let end = version.find(|c: char| !c.is_ascii_digit());
    version[..end.unwrap_or(version.len())].parse().ok()
}

/// A JDK or Java runtime on this machine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Jdk {
    home: PathBuf,
    release: BTreeMap<String, String>,
}

impl Jdk {
    /// The JDK to judge: the one given, else `JAVA_HOME`, else `java` on the `PATH`, else
    /// the newest in the platform's usual place.
    pub fn find(given: Option<&Path>) -> Result<Jdk, Error> {
        if let Some(home) = given {
            return Jdk::at(home, "--jdk");
        }
        if let Some(home) = env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
            return Jdk::at(Path::new(&home), "JAVA_HOME");
        }
        let on_path = env::var_os("PATH").and_then(|path| {
            let java = env::split_paths(&path)
                .map(|dir| dir.join("java"))
                .find(|java| java.is_file())?;
            // `java` on the path is often a link. The home is the folder of the file itself.
            Jdk::at(java.canonicalize().ok()?.parent()?.parent()?, "PATH").ok()
        });
        on_path
            .or_else(|| Jdk::installed().into_iter().next_back())
            .ok_or_else(|| Error::NoJdk {
                looked_in: USUAL_PLACE.into(),
            })
    }

    /// The JDK in a folder, named by `from`.
    pub fn at(home: &Path, from: &'static str) -> Result<Jdk, Error> {
        match home.canonicalize() {
            Ok(home) if home.join("bin/java").is_file() => {
                let home = Jdk::behind_link(home);
                let release = fs::read_to_string(home.join("release")).unwrap_or_default();
                Ok(Jdk {
                    home,
                    release: properties(&release),
                })
            }
            _ => Err(Error::NotAJdk {
                home: home.into(),
                from,
                remedy: match from {
                    SEARCH => String::new(),
                    _ => Jdk::around(home).unwrap_or_else(Jdk::others),
                },
            }),
        }
    }

    /// The JDK to which `bin/java` is a link, as in `/usr`, which is no JDK itself; else `home`.
    fn behind_link(home: PathBuf) -> PathBuf {
        let of_link = || {
            let java = home.join("bin/java").canonicalize().ok()?;
            let behind = java.parent()?.parent()?;
            behind.join("release").is_file().then(|| behind.to_owned())
        };
        if home.join("release").is_file() {
            return home;
        }
        of_link().unwrap_or(home)
    }

    /// The folder of the JDK if its `bin` or its `java` was named, as the end of a sentence.
    fn around(named: &Path) -> Option<String> {
        // `/bin/java` may be a link to a JDK, but nobody means `/`.
        let is_jdk =
            |folder: &&Path| folder.parent().is_some() && folder.join("bin/java").is_file();
        let folder = named.ancestors().skip(1).take(2).find(is_jdk)?;
        Some(format!("; did you mean {}?", folder.display()))
    }

    /// The JDKs of this machine, as the end of a sentence.
    fn others() -> String {
        let all = Jdk::installed();
        let homes: Vec<String> = all
            .iter()
            .map(|jdk| jdk.home.display().to_string())
            .collect();
        match &homes[..] {
            [] => "; give the folder of a JDK".into(),
            homes => format!("; give the folder of a JDK, as {}", homes.join(", ")),
        }
    }

    /// All JDKs in the platform's usual place, each once, oldest first.
    pub fn installed() -> Vec<Jdk> {
        let mut found: Vec<Jdk> = fs::read_dir(USUAL_PLACE)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| Jdk::at(&entry.path(), SEARCH).ok())
            .collect();
        found.sort_by_key(|jdk| (jdk.feature(), jdk.home.clone()));
        found.dedup();
        found
    }

    /// The JDK's folder, absolute and without links.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The JDK's launcher.
    pub fn java(&self) -> PathBuf {
        self.home.join("bin/java")
    }

    /// The feature release, such as 17 or 25, if the JDK's `release` file has it.
    pub fn feature(&self) -> Option<u32> {
        feature(self.version()?)
    }

    /// The version, if the JDK's `release` file has it.
    pub fn version(&self) -> Option<&str> {
        self.release.get("JAVA_VERSION").map(String::as_str)
    }

    /// Fails if the JDK is too old to be judged.
    pub fn check_age(&self) -> Result<(), Error> {
        match self.version().filter(|version| is_too_old(version)) {
            None => Ok(()),
            Some(version) => Err(Error::TooOld {
                home: self.home.clone(),
                version: version.into(),
                oldest: OLDEST,
            }),
        }
    }

    /// Whether the JDK has a module.
    pub fn has_module(&self, module: &str) -> bool {
        if let Some(modules) = self.release.get("MODULES") {
            return modules.split(' ').any(|name| name == module);
        }
        // A build without an image has no list of modules.
        Command::new(self.java())
            .args(["--describe-module", module])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }
}

/// Reads lines of `NAME="value"`.
fn properties(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.into(), value.trim_matches('"').into()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fake(dir: &Path, release: &str) -> Jdk {
        fs::create_dir_all(dir.join("bin")).unwrap();
        fs::write(dir.join("bin/java"), "").unwrap();
        fs::write(dir.join("release"), release).unwrap();
        Jdk::at(dir, "a test").unwrap()
    }

    #[test]
    fn a_release_file_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let jdk = fake(
            dir.path(),
            "JAVA_VERSION=\"17.0.15\"\nMODULES=\"java.base jdk.compiler\"\n",
        );
        assert_eq!(jdk.feature(), Some(17));
        assert!(jdk.has_module("jdk.compiler") && !jdk.has_module("jdk"));
        assert_eq!(
            fake(dir.path(), "JAVA_VERSION=\"26-internal\"").feature(),
            Some(26)
        );
        assert_eq!(fake(dir.path(), "").feature(), None);
    }

    #[test]
    fn an_old_jdk_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        for (version, old) in [("1.8.0_392", true), ("11.0.2", true), ("17", false)] {
            let jdk = fake(dir.path(), &format!("JAVA_VERSION=\"{version}\""));
            let error = jdk.check_age().map_err(|e| e.to_string()).err();
            let told = format!("is JDK {version}; the oldest that can be judged is 17");
            assert_eq!(error.is_some_and(|error| error.contains(&told)), old);
        }
    }

    #[test]
    fn a_folder_without_java_is_no_jdk() {
        let dir = tempfile::tempdir().unwrap();
        let error = Jdk::at(dir.path(), "--jdk").unwrap_err();
        assert!(error.to_string().contains("there is no bin/java in it"));
    }
}
