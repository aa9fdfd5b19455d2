//! The places of sources, packages and builds, outside of the repository.

use crate::error::Error;
use std::env;
use std::path::{Path, PathBuf};

/// OpenJDK's debug levels: how a HotSpot is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Level {
    /// As it is shipped
    Release,
    /// With HotSpot's assertions, optimised
    Fastdebug,
}

impl Level {
    /// The name that OpenJDK's `configure` knows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Fastdebug => "fastdebug",
        }
    }
}

/// The folder of all downloads and builds.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
    level: Level,
}

impl Cache {
    /// The folder `root`, else the one of the environment variable STACKWITNESS_MUTANTS_CACHE,
    /// else `stackwitness-mutants` in the user's cache.
    /// Builds and JDKs are those of `level`; downloads are shared.
    pub fn new(root: Option<PathBuf>, level: Level) -> Result<Self, Error> {
        let variable = |name| env::var_os(name).filter(|value| !value.is_empty());
        let root = root
            .or_else(|| variable("STACKWITNESS_MUTANTS_CACHE").map(Into::into))
            .or_else(|| {
                let base = variable("XDG_CACHE_HOME").map(PathBuf::from);
                let base = base.or_else(|| Some(Path::new(&variable("HOME")?).join(".cache")));
                Some(base?.join("stackwitness-mutants"))
            })
            .ok_or_else(|| Error::Missing("no cache folder: HOME is not set".into()))?;
        let root = std::path::absolute(&root).map_err(Error::at(&root))?;
        if root.to_string_lossy().contains(char::is_whitespace) {
            // The paths go through make, which splits them at spaces.
            let why = format!("the cache's path has a space: {}", root.display());
            return Err(Error::Missing(why));
        }
        Ok(Self { root, level })
    }

    /// A separate state of apt: the system's lists and sources stay as they are.
    pub fn apt(&self) -> PathBuf {
        self.root.join("apt")
    }

    /// The downloaded packages.
    pub fn packages(&self) -> PathBuf {
        self.root.join("packages")
    }

    /// The unpacked binary packages.
    pub fn installed(&self) -> PathBuf {
        self.root.join("installed")
    }

    /// The unpacked source package.
    pub fn source(&self) -> PathBuf {
        self.root.join("source")
    }

    /// HotSpot's own sources.
    pub fn hotspot(&self) -> PathBuf {
        self.source().join("src/hotspot")
    }

    /// How HotSpot is compiled.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The folder of this level's builds and JDKs.
    fn builds(&self) -> PathBuf {
        match self.level {
            Level::Release => self.root.clone(),
            Level::Fastdebug => self.root.join(self.level.name()),
        }
    }

    /// The build of the unchanged HotSpot.
    pub fn build(&self) -> PathBuf {
        self.builds().join("build")
    }

    /// Changed files and objects of a variant.
    pub fn variant(&self, name: &str) -> PathBuf {
        self.builds().join("variants").join(name)
    }

    /// The JDK with a variant of HotSpot.
    pub fn jdk(&self, name: &str) -> PathBuf {
        self.builds().join("jdk").join(name)
    }
}
