//! `cargo xtask jdk RELEASE`: a JDK that this Debian does not have, from Debian's packages of a newer suite.
//!
//! Newer suites are built for a newer glibc. So the JDK gets that glibc beside it, and `patchelf` gives its programs this
//! glibc's loader and library path. Nothing of the system is changed: apt reads lists of its own, from the mirror that the
//! system's lists name.

use crate::command::{output, run};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The suite with all releases.
pub const SUITE: &str = "sid";

/// The packages of the C library and of what a JVM needs besides.
const LIBRARIES: [&str; 4] = ["libc6", "libstdc++6", "libgcc-s1", "zlib1g"];

/// The key that signs Debian's lists.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// A machine as Debian and glibc name it.
struct Machine {
    debian: &'static str,
    loader: &'static str,
}

impl Machine {
    fn this() -> Result<Machine, String> {
        let (debian, loader) = match std::env::consts::ARCH {
            "x86_64" => ("amd64", "ld-linux-x86-64.so.2"),
            "aarch64" => ("arm64", "ld-linux-aarch64.so.1"),
            other => return Err(format!("no JDKs are laid out for {other}")),
        };
        Ok(Machine { debian, loader })
    }
}

/// Lays out the JDK of this feature release from `suite`, unless it is there. Returns its home.
pub fn lay_out(release: u32, suite: &str) -> Result<PathBuf, String> {
    let machine = Machine::this()?;
    let cache = cache()?;
    let home = cache.join(format!("{suite}-{release}"));
    fs::create_dir_all(&cache).map_err(|e| format!("{}: {e}", cache.display()))?;
    // One at a time, also of several processes.
    let lock =
        File::create(cache.join(".lock")).map_err(|e| format!("{}: {e}", cache.display()))?;
    lock.lock()
        .map_err(|e| format!("{}: {e}", cache.display()))?;
    if runs(&home) {
        return Ok(home);
    }
    for tool in ["apt-get", "dpkg-deb", "patchelf"] {
        output(Command::new(tool).arg("--version"))
            .map_err(|why| format!("{why}\nInstall it: apt-get install {tool}"))?;
    }
    let apt = Apt::of(suite, &cache)?;
    let glibc = cache.join(format!("glibc-{suite}"));
    if !glibc.join(machine.loader).is_file() {
        let part = apt.unpack(&LIBRARIES.map(str::to_owned))?;
        replace(&glibc, |new| copy_libraries(&part, new))?;
    }
    let packages = ["jre", "jdk"].map(|kind| format!("openjdk-{release}-{kind}-headless"));
    let part = apt.unpack(&packages)?;
    let name = format!("java-{release}-openjdk-{}", machine.debian);
    replace(&home, |new| {
        run(Command::new("cp")
            .arg("-aT")
            .arg(part.join("usr/lib/jvm").join(name))
            .arg(new))?;
        bring_in_configuration(new, &part)?;
        patch(new, &glibc, machine.loader)
    })?;
    if runs(&home) {
        Ok(home)
    } else {
        Err(format!("{} does not run", home.join("bin/java").display()))
    }
}

/// Fetches the symbols of the laid out JDK's libjvm, unless they are there. Returns the file.
pub fn symbols(release: u32, suite: &str) -> Result<PathBuf, String> {
    let server = lay_out(release, suite)?.join("lib/server");
    let id = build_id(&server.join("libjvm.so"))?;
    let file = server.join(format!("libjvm-{id}.debug"));
    if file.is_file() {
        return Ok(file);
    }
    let apt = Apt::of(suite, &cache()?)?;
    let package = format!("openjdk-{release}-dbg");
    let part = apt.unpack(std::slice::from_ref(&package))?;
    let (first, rest) = id.split_at(2);
    let found = part.join(format!("usr/lib/debug/.build-id/{first}/{rest}.debug"));
    if !found.is_file() {
        return Err(format!(
            "{package} has no symbols of {}: the suite has a newer version by now; remove the JDK's folder, and lay it out again",
            server.display()
        ));
    }
    fs::copy(&found, &file).map_err(|e| format!("{}: {e}", file.display()))?;
    Ok(file)
}

/// The build ID of a library, as hexadecimal digits.
fn build_id(library: &Path) -> Result<String, String> {
    let notes = output(Command::new("readelf").arg("-n").arg(library))?;
    let notes = String::from_utf8_lossy(&notes);
    let id = notes
        .lines()
        .find_map(|line| line.trim().strip_prefix("Build ID: "));
    id.filter(|id| id.len() > 2)
        .map(str::to_owned)
        .ok_or_else(|| format!("{} has no build ID", library.display()))
}

/// Where JDKs are laid out.
fn cache() -> Result<PathBuf, String> {
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let of_user = given("XDG_CACHE_HOME").map(PathBuf::from);
    let of_home = || Some(Path::new(&given("HOME")?).join(".cache"));
    let cache = of_user
        .or_else(of_home)
        .ok_or("set HOME or XDG_CACHE_HOME")?;
    Ok(cache.join("stackwitness/jdks"))
}

fn runs(home: &Path) -> bool {
    output(Command::new(home.join("bin/java")).arg("-version")).is_ok()
}

/// Makes a folder with `fill`, and puts it in the place of `folder`: what fails leaves nothing half made there.
fn replace(folder: &Path, fill: impl FnOnce(&Path) -> Result<(), String>) -> Result<(), String> {
    let part = folder.with_extension("part");
    let fail = |e| format!("{}: {e}", folder.display());
    for old in [&part, folder] {
        if old.exists() {
            fs::remove_dir_all(old).map_err(fail)?;
        }
    }
    fs::create_dir_all(&part).map_err(fail)?;
    fill(&part)?;
    fs::rename(&part, folder).map_err(fail)
}

/// Packages of a suite.
struct Apt {
    folder: PathBuf,
    options: Vec<String>,
}

impl Apt {
    fn of(suite: &str, cache: &Path) -> Result<Apt, String> {
        let folder = cache.join(format!("apt-{suite}"));
        let fail = |e| format!("{}: {e}", folder.display());
        for part in ["lists/partial", "archives/partial"] {
            fs::create_dir_all(folder.join(part)).map_err(fail)?;
        }
        let list = format!("deb [signed-by={KEYRING}] {} {suite} main\n", mirror()?);
        fs::write(folder.join("sources.list"), list).map_err(fail)?;
        fs::write(folder.join("status"), "").map_err(fail)?;
        let at = |part: &str| folder.join(part).display().to_string();
        let options = [
            ("Dir::Etc::SourceList", at("sources.list")),
            ("Dir::Etc::SourceParts", "/dev/null".into()),
            ("Dir::State::Lists", at("lists")),
            ("Dir::State::status", at("status")),
            ("Dir::Cache::Archives", at("archives")),
            ("Dir::Cache::pkgcache", String::new()),
            ("Dir::Cache::srcpkgcache", String::new()),
            ("APT::Sandbox::User", "root".into()),
            // Mirrors of a fixed day are valid here, too; the signature is checked.
            ("Acquire::Check-Valid-Until", "false".into()),
        ];
        let apt = Apt {
            options: options
                .map(|(name, value)| format!("{name}={value}"))
                .into(),
            folder,
        };
        output(&mut apt.get(&["update"]))?;
        Ok(apt)
    }

    fn get(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("apt-get");
        command.arg("-qq");
        for option in &self.options {
            command.args(["-o", option]);
        }
        command.args(arguments).current_dir(&self.folder);
        command
    }

    /// Downloads packages, and unpacks them into one folder.
    fn unpack(&self, packages: &[String]) -> Result<PathBuf, String> {
        let fail = |e| format!("{}: {e}", self.folder.display());
        let (debs, to) = (self.folder.join("debs"), self.folder.join("unpacked"));
        for folder in [&debs, &to] {
            if folder.exists() {
                fs::remove_dir_all(folder).map_err(fail)?;
            }
            fs::create_dir_all(folder).map_err(fail)?;
        }
        let names: Vec<&str> = packages.iter().map(String::as_str).collect();
        output(
            self.get(&[&["download"], &names[..]].concat())
                .current_dir(&debs),
        )?;
        for deb in files(&debs)? {
            output(Command::new("dpkg-deb").arg("-x").arg(deb).arg(&to))?;
        }
        Ok(to)
    }
}

/// The mirror of Debian in the system's own lists.
fn mirror() -> Result<String, String> {
    const PLACES: [&str; 2] = ["/etc/apt/sources.list", "/etc/apt/sources.list.d"];
    let mut lists = vec![];
    for place in PLACES.map(Path::new) {
        if place.is_dir() {
            lists.extend(files(place)?);
        } else if place.is_file() {
            lists.push(place.into());
        }
    }
    let mut texts = lists
        .iter()
        .filter_map(|list| fs::read_to_string(list).ok());
    texts
        .find_map(|text| mirror_in(&text))
        .ok_or_else(|| format!("no mirror of Debian is named in {}", PLACES.join(" and ")))
}

/// The first mirror of Debian in a list of apt, of either form (sources.list(5)).
fn mirror_in(list: &str) -> Option<String> {
    let entries = list.lines().filter(|line| {
        let line = line.trim_start();
        line.starts_with("deb ") || line.starts_with("URIs:")
    });
    let mut words = entries.flat_map(str::split_whitespace);
    let is_mirror =
        |word: &&str| word.contains("://") && word.trim_end_matches('/').ends_with("/debian");
    words.find(is_mirror).map(str::to_owned)
}

/// The shared libraries below `from`, and the loader, all in `to`.
fn copy_libraries(from: &Path, to: &Path) -> Result<(), String> {
    for file in tree(from)? {
        let name = file.file_name().unwrap_or_default();
        let text = name.to_string_lossy();
        if text.contains(".so.") && file.is_file() {
            fs::copy(&file, to.join(name)).map_err(|e| format!("{}: {e}", file.display()))?;
        }
    }
    Ok(())
}

/// Debian keeps a JDK's configuration in /etc, and links there: the files come into the JDK.
fn bring_in_configuration(home: &Path, unpacked: &Path) -> Result<(), String> {
    for link in tree(home)?.into_iter().filter(|file| file.is_symlink()) {
        let fail = |e| format!("{}: {e}", link.display());
        let target = fs::read_link(&link).map_err(fail)?;
        let Ok(in_etc) = target.strip_prefix("/") else {
            continue;
        };
        let file = unpacked.join(in_etc);
        fs::remove_file(&link).map_err(fail)?;
        if file.exists() {
            run(Command::new("cp").arg("-a").arg(file).arg(&link))?;
        }
    }
    Ok(())
}

/// Gives the programs of the JDK the loader and the libraries in `glibc`.
fn patch(home: &Path, glibc: &Path, loader: &str) -> Result<(), String> {
    const ELF: &[u8] = b"\x7fELF";
    let path = format!("{}:$ORIGIN/../lib:$ORIGIN", glibc.display());
    let mut programs = files(&home.join("bin"))?;
    programs.push(home.join("lib/jspawnhelper"));
    for program in programs.iter().filter(|program| !program.is_symlink()) {
        if !fs::read(program).is_ok_and(|bytes| bytes.starts_with(ELF)) {
            continue;
        }
        output(
            Command::new("patchelf")
                .arg("--set-interpreter")
                .arg(glibc.join(loader))
                .args(["--force-rpath", "--set-rpath", &path])
                .arg(program),
        )?;
    }
    Ok(())
}

/// What lies in `folder`.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let fail = |e| format!("{}: {e}", folder.display());
    let entries = fs::read_dir(folder).map_err(fail)?;
    let mut files: Vec<PathBuf> = entries
        .map(|entry| Ok(entry.map_err(fail)?.path()))
        .collect::<Result<_, String>>()?;
    files.sort();
    Ok(files)
}

/// All files and links below `folder`.
fn tree(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = vec![];
    for path in files(folder)? {
        if path.is_dir() && !path.is_symlink() {
            found.extend(tree(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_found_in_lists_of_both_forms() {
        let new = "Types: deb\nURIs: http://mirror.example/debian/\nSuites: bookworm\n";
        let old = "# deb http://old.example/debian x main\n\
                   deb http://security.example/debian-security x main\n\
                   deb [arch=amd64] https://mirror.example/debian bookworm main\n";
        let found = [new, old].map(|list| mirror_in(list).expect("a mirror"));
        let expected = [
            "http://mirror.example/debian/",
            "https://mirror.example/debian",
        ];
        assert_eq!(found, expected);
        assert_eq!(
            mirror_in("deb http://other.example/ubuntu noble main\n"),
            None
        );
    }
}
