//! A variant of HotSpot: some files are compiled again, and linked with the objects of the
//! unchanged build.

use super::changed::{self, Changed};
use super::hotspot::Hotspot;
use super::table::Table;
use crate::cache::Cache;
use crate::command::run;
use crate::error::Error;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Variant {
    /// All mistakes. The switch turns on one of them.
    Mutants,
    /// No mistake: the same files, compiled with -O2 in place of -O3.
    HonestO2,
    /// No mistake: the same files, without stack protector and frame pointer.
    HonestBare,
}

impl Variant {
    pub const ALL: [Self; 3] = [Self::Mutants, Self::HonestO2, Self::HonestBare];

    /// The name of the variant's folders.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mutants => "mutants",
            Self::HonestO2 => "honest-o2",
            Self::HonestBare => "honest-bare",
        }
    }

    /// The variant's name while no mistake is switched on.
    pub fn honest_name(self) -> &'static str {
        match self {
            Self::Mutants => "honest-off",
            Self::HonestO2 | Self::HonestBare => self.name(),
        }
    }

    /// The description of the variant while no mistake is switched on.
    pub fn when_honest(self) -> &'static str {
        match self {
            Self::Mutants => "makes no mistake: the switch is off",
            Self::HonestO2 => "makes no mistake: some files compiled with -O2",
            Self::HonestBare => "makes no mistake: some files compiled without frame pointers",
        }
    }

    /// Flags that come last, and so override others.
    fn flags(self) -> &'static str {
        match self {
            Self::Mutants => "",
            Self::HonestO2 => " -O2",
            Self::HonestBare => " -fno-stack-protector -fomit-frame-pointer",
        }
    }

    /// The files that are compiled again. The files of an honest variant are HotSpot's own.
    fn files(self, table: &Table, cache: &Cache) -> Result<Vec<Changed>, Error> {
        let changed = changed::write(table, &cache.hotspot(), &cache.variant(self.name()))?;
        Ok(match self {
            Self::Mutants => changed,
            Self::HonestO2 | Self::HonestBare => changed
                .into_iter()
                .filter(|file| file.path.file_name() == file.like.file_name())
                .map(|file| Changed {
                    path: file.like.clone(),
                    like: file.like,
                })
                .collect(),
        })
    }
}

/// Compiles and links a variant. Returns its library.
pub fn build(
    variant: Variant,
    table: &Table,
    hotspot: &Hotspot,
    cache: &Cache,
) -> Result<PathBuf, Error> {
    let folder = cache.variant(variant.name());
    let mut replaced = HashMap::new();
    let mut added = vec![];
    for file in variant.files(table, cache)? {
        let name = file.path.with_extension("o");
        let name = name.file_name().unwrap_or_default();
        let object = folder.join(name);
        let command = hotspot.compiler(&file.like, &file.path, &object)? + variant.flags();
        run(Command::new("nice").args(["-n", "19", "sh", "-c", &command]))?;
        if file.path.file_name() == file.like.file_name() {
            replaced.insert(name.to_owned(), object);
        } else {
            added.push(object);
        }
    }
    let library = folder.join("libjvm.so");
    let words = relink(hotspot.linker()?, replaced, &added, &library)?;
    run(Command::new("sh").args(["-c", &words.join(" ")]))?;
    Ok(library)
}

/// A linker's command line with other objects and another output. `replaced` has the new object
/// for each name of an old object.
fn relink(
    words: Vec<String>,
    mut replaced: HashMap<OsString, PathBuf>,
    added: &[PathBuf],
    library: &Path,
) -> Result<Vec<String>, Error> {
    let mut out = vec![];
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let name = Path::new(&word).file_name().unwrap_or_default();
        if word == "-o" {
            words.next();
            out.extend(["-o".into(), library.display().to_string()]);
            out.extend(added.iter().map(|object| object.display().to_string()));
        } else if let Some(object) = replaced.remove(name) {
            out.push(object.display().to_string());
        } else {
            out.push(word);
        }
    }
    match replaced.keys().next() {
        Some(left) => Err(Error::Missing(format!("{} is not linked", left.display()))),
        None => Ok(out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_replaced_and_added_and_the_library_goes_elsewhere() {
        let words = ["g++", "-shared", "-o", "/b/libjvm.so", "/b/a.o", "/b/b.o"];
        let relinked = |name: &str| {
            let replaced = HashMap::from([(name.into(), "/v/b.o".into())]);
            let words = words.map(String::from).into();
            relink(
                words,
                replaced,
                &["/v/switch.o".into()],
                Path::new("/v/libjvm.so"),
            )
        };
        assert_eq!(
            relinked("b.o").unwrap().join(" "),
            "g++ -shared -o /v/libjvm.so /v/switch.o /b/a.o /v/b.o"
        );
        assert!(relinked("c.o").is_err());
    }
}
