//! From Debian's packages to JDKs with changed HotSpots.
//!
//! * [`cache`]: the places of all files;
//! * [`debian`]: sources and binaries of one version;
//! * [`hotspot`]: the build of the unchanged HotSpot;
//! * [`sources`]: HotSpot's files with the mistakes in them;
//! * [`jvm`]: these files, compiled and linked with the unchanged rest;
//! * [`mod@jdk`]: a JDK folder around the new VM.

pub mod cache;
mod debian;
mod hotspot;
mod jdk;
pub mod jvm;
mod sources;

use crate::error::Error;
use crate::table::Table;
use cache::Cache;
use hotspot::Hotspot;
use jvm::Variant;
use std::path::{Path, PathBuf};

/// The options of `build`.
#[derive(Debug, clap::Args)]
pub struct Wishes {
    /// Build these variants only
    #[arg(long, value_enum)]
    only: Vec<Variant>,
    /// Jobs at a time for the build of the whole HotSpot
    #[arg(long, default_value_t = 2)]
    jobs: u32,
    /// Where Debian's packages are
    #[arg(long, default_value = "http://deb.debian.org")]
    mirror: String,
    /// The JDK 17 that builds
    #[arg(long, default_value = "/usr/lib/jvm/java-17-openjdk-amd64")]
    boot_jdk: PathBuf,
}

/// Builds the JDKs that the options choose. Existing files are not downloaded or built again.
pub fn build(wishes: &Wishes, table: &Table, cache: &Cache) -> Result<(), Error> {
    debian::fetch(cache, &wishes.mirror)?;
    let hotspot = Hotspot::build(cache, &wishes.boot_jdk, wishes.jobs)?;
    for variant in Variant::ALL {
        if wishes.only.is_empty() || wishes.only.contains(&variant) {
            let library = jvm::build(variant, table, &hotspot, cache)?;
            println!("{}", jdk::make(cache, variant.name(), &library)?.display());
        }
    }
    Ok(())
}

/// The JDK of a variant, if it was built.
pub fn jdk(variant: Variant, cache: &Cache) -> Result<PathBuf, Error> {
    let home = cache.jdk(variant.name());
    let java: &Path = &home.join("bin/java");
    if java.exists() {
        return Ok(home);
    }
    let why = format!("{} is not there; `mutants build` makes it", home.display());
    Err(Error::Missing(why))
}
