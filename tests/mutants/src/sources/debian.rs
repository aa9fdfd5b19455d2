//! Debian's packages of openjdk-17: the source, and the binaries of the same version.

use crate::cache::Cache;
use crate::command::{output, run};
use crate::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

const SOURCE: &str = "openjdk-17";
const BINARIES: [&str; 2] = ["openjdk-17-jre-headless", "openjdk-17-jdk-headless"];
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Downloads and unpacks the newest version whose source and binaries are available. Does nothing
/// if this is done already.
pub fn fetch(cache: &Cache, mirror: &str) -> Result<(), Error> {
    if cache.source().exists() && cache.installed().exists() {
        return Ok(());
    }
    let apt = Apt::new(cache, mirror)?;
    run(apt.command("apt-get").arg("update"))?;
    let versions = apt.versions()?;
    let got = versions.iter().find(|version| {
        let got = apt.download(cache, version);
        got.inspect_err(|error| eprintln!("{version}: {error}"))
            .is_ok()
    });
    if got.is_none() {
        return Err(Error::Missing(format!("no version of {SOURCE} can be had")));
    }
    unpack(cache)
}

/// apt-get with separate sources, lists and archives.
struct Apt {
    options: Vec<String>,
}

impl Apt {
    fn new(cache: &Cache, mirror: &str) -> Result<Self, Error> {
        let root = cache.apt();
        for folder in ["lists/partial", "archives/partial"] {
            let path = root.join(folder);
            fs::create_dir_all(&path).map_err(Error::at(&path))?;
        }
        let list = root.join("sources.list");
        fs::write(&list, sources(&codename()?, mirror)).map_err(Error::at(&list))?;
        let options = [
            format!("Dir::Etc::sourcelist={}", list.display()),
            "Dir::Etc::sourceparts=-".into(),
            format!("Dir::State::lists={}", root.join("lists").display()),
            format!("Dir::Cache={}", root.display()),
            "APT::Sandbox::User=".into(),
        ];
        Ok(Self {
            options: options.into_iter().flat_map(|o| ["-o".into(), o]).collect(),
        })
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command.args(&self.options);
        command
    }

    /// All versions of the source package, the newest first.
    fn versions(&self) -> Result<Vec<String>, Error> {
        let text = output(self.command("apt-cache").args(["showsrc", SOURCE]))?;
        let mut versions: Vec<_> = text
            .lines()
            .filter_map(|line| Some(line.strip_prefix("Version: ")?.to_owned()))
            .collect();
        let newer = |a: &String, b: &String| {
            Command::new("dpkg")
                .args(["--compare-versions", a, "gt", b])
                .status()
                .is_ok_and(|status| status.success())
        };
        versions.sort_by(|a, b| newer(b, a).cmp(&newer(a, b)));
        versions.dedup();
        Ok(versions)
    }

    fn download(&self, cache: &Cache, version: &str) -> Result<(), Error> {
        let folder = cache.packages();
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(Error::at(&folder))?;
        }
        fs::create_dir_all(&folder).map_err(Error::at(&folder))?;
        let named = |name: &str| format!("{name}={version}");
        run(self
            .command("apt-get")
            .args(["source", "--download-only", &named(SOURCE)])
            .current_dir(&folder))?;
        run(self
            .command("apt-get")
            .arg("download")
            .args(BINARIES.map(named))
            .current_dir(&folder))
    }
}

fn sources(codename: &str, mirror: &str) -> String {
    let line = |kind, path, suite: &str| {
        format!("{kind} [signed-by={KEYS}] {mirror}/{path} {suite} main\n")
    };
    ["deb", "deb-src"]
        .into_iter()
        .flat_map(|kind| {
            [
                line(kind, "debian", codename),
                line(kind, "debian-security", &format!("{codename}-security")),
            ]
        })
        .collect()
}

/// The name of this Debian release.
fn codename() -> Result<String, Error> {
    let path = Path::new("/etc/os-release");
    let text = fs::read_to_string(path).map_err(Error::at(path))?;
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    name.map(Into::into)
        .ok_or_else(|| Error::Missing("this is no release of Debian".into()))
}

fn unpack(cache: &Cache) -> Result<(), Error> {
    let folder = cache.packages();
    let listing = fs::read_dir(&folder).map_err(Error::at(&folder))?;
    for path in listing.flatten().map(|entry| entry.path()) {
        let ending = path.extension().unwrap_or_default();
        if ending == "dsc" {
            let source = cache.source();
            run(Command::new("dpkg-source")
                .args(["--no-copy", "-x"])
                .args([&path, &source]))?;
        } else if ending == "deb" {
            let installed = cache.installed();
            run(Command::new("dpkg-deb").arg("-x").args([&path, &installed]))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_name_the_release_and_its_security_updates() {
        let text = sources("bookworm", "http://mirror");
        assert_eq!(text.lines().count(), 4);
        assert!(text.contains(&format!(
            "deb-src [signed-by={KEYS}] http://mirror/debian-security bookworm-security main\n"
        )));
    }
}
