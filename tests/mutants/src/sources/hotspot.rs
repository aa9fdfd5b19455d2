//! The build of the unchanged HotSpot, and the command lines of that build for single files.

use crate::cache::Cache;
use crate::command::run;
use crate::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The VM's library in a build.
const LIBRARY: &str = "support/modules_libs/java.base/server/libjvm.so";
const OBJECTS: &str = "hotspot/variant-server/libjvm/objs";

/// An unchanged HotSpot, built from source.
#[derive(Debug)]
pub struct Hotspot {
    build: PathBuf,
}

impl Hotspot {
    /// Builds HotSpot at the cache's level, with at most `jobs` jobs at a time, unless that is done already. It takes
    /// 6 minutes on two idle cores.
    pub fn build(cache: &Cache, boot_jdk: &Path, jobs: u32) -> Result<Self, Error> {
        let build = cache.build();
        if !build.join("spec.gmk").exists() {
            fs::create_dir_all(&build).map_err(Error::at(&build))?;
            run(Command::new("bash")
                .arg(cache.source().join("configure"))
                .arg(format!("--with-boot-jdk={}", boot_jdk.display()))
                .arg(format!("--with-debug-level={}", cache.level().name()))
                .args([
                    "--enable-headless-only",
                    "--with-native-debug-symbols=none",
                    "--with-jvm-variants=server",
                    "--with-pcsclite=bundled",
                    "--with-version-pre=mutants",
                    "--without-version-opt",
                    "--disable-warnings-as-errors",
                ])
                .current_dir(&build))?;
        }
        if !build.join(LIBRARY).exists() {
            run(Command::new("nice")
                .args(["-n", "19", "make", "hotspot"])
                .arg(format!("JOBS={jobs}"))
                .current_dir(&build))?;
        }
        Ok(Self { build })
    }

    /// The command that compiled `source`, changed to read `from` and to write `to`.
    pub fn compiler(&self, source: &Path, from: &Path, to: &Path) -> Result<String, Error> {
        let name = source.with_extension("o.cmdline");
        let path = self
            .build
            .join(OBJECTS)
            .join(name.file_name().unwrap_or_default());
        let words = fs::read_to_string(&path).map_err(Error::at(&path))?;
        Ok(recompile(&words, source, from, to))
    }

    /// The words of the command that linked the VM, with all its objects.
    pub fn linker(&self) -> Result<Vec<String>, Error> {
        let path = self.build.join(OBJECTS).join("BUILD_LIBJVM_link.cmdline");
        let text = fs::read_to_string(&path).map_err(Error::at(&path))?;
        let mut words = vec![];
        for word in text.split_whitespace() {
            match word.strip_prefix('@') {
                Some(list) => {
                    let list = Path::new(list);
                    let text = fs::read_to_string(list).map_err(Error::at(list))?;
                    words.extend(text.split_whitespace().map(str::to_owned));
                }
                None => words.push(word.to_owned()),
            }
        }
        Ok(words)
    }
}

/// A compiler's command line with other files. The new file's folder is the first folder of
/// headers.
fn recompile(words: &str, source: &Path, from: &Path, to: &Path) -> String {
    let folder = from.parent().unwrap_or(Path::new(".")).display();
    let mut out = vec![];
    let mut words = words.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "-MF" => {
                words.next();
                out.push(format!("-MF {}", to.with_extension("d").display()));
            }
            "-o" => {
                words.next();
                out.push(format!("-o {}", to.display()));
            }
            _ if Path::new(word).file_name() == source.file_name() => {
                out.push(from.display().to_string());
            }
            _ => out.push(word.to_owned()),
        }
        if out.len() == 1 {
            out.push(format!("-I{folder}"));
        }
    }
    out.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_gets_other_files_and_keeps_its_flags() {
        let words = "g++ -MMD -MF /b/a.d.tmp -I/b/pch -DX='\"y\"' -O3 -c -o /b/a.o /s/a.cpp\n";
        let paths = ["/s/a.cpp", "/v/a.cpp", "/v/a.o"].map(Path::new);
        assert_eq!(
            recompile(words, paths[0], paths[1], paths[2]),
            "g++ -I/v -MMD -MF /v/a.d -I/b/pch -DX='\"y\"' -O3 -c -o /v/a.o /v/a.cpp"
        );
    }
}
