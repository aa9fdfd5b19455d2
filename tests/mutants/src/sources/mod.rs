//! Mutants of 17: from Debian's packages to JDKs with changed HotSpots.
//!
//! * [`table`]: the mutants;
//! * [`edit`]: edits of HotSpot's files;
//! * [`debian`]: sources and binaries of one version;
//! * [`hotspot`]: the build of the unchanged HotSpot;
//! * [`changed`]: HotSpot's files with the mistakes in them;
//! * [`jvm`]: these files, compiled and linked with the unchanged rest.

mod changed;
mod debian;
mod edit;
mod hotspot;
pub mod jvm;
pub mod table;

use crate::cache::Cache;
use crate::command::run;
use crate::error::Error;
use crate::jdk::{self, LIBRARY};
use hotspot::Hotspot;
use jvm::Variant;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use table::Table;

/// The folder of the JDK in the packages.
const HOME: &str = "usr/lib/jvm/java-17-openjdk-amd64";

/// The options of a build from source.
#[derive(Debug, clap::Args)]
pub struct FromSource {
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
pub fn build(wishes: &FromSource, table: &Table, cache: &Cache) -> Result<(), Error> {
    debian::fetch(cache, &wishes.mirror)?;
    let hotspot = Hotspot::build(cache, &wishes.boot_jdk, wishes.jobs)?;
    for variant in Variant::ALL {
        if wishes.only.is_empty() || wishes.only.contains(&variant) {
            let library = jvm::build(variant, table, &hotspot, cache)?;
            println!("{}", jdk_with(cache, variant, &library)?.display());
        }
    }
    Ok(())
}

/// A JDK with the VM `library`.
fn jdk_with(cache: &Cache, variant: Variant, library: &Path) -> Result<PathBuf, Error> {
    let installed = cache.installed();
    let from = installed.join(HOME);
    jdk::make(cache, variant.name(), (&from, &installed), |home| {
        let target = home.join(LIBRARY);
        fs::copy(library, &target).map_err(Error::at(&target))?;
        // The CDS archives record the VM that wrote them, and other VMs refuse them.
        for archive in ["classes.jsa", "classes_nocoops.jsa"] {
            let path = home.join("lib/server").join(archive);
            if path.exists() {
                fs::remove_file(&path).map_err(Error::at(&path))?;
            }
        }
        run(Command::new(home.join("bin/java")).args(["-Xshare:dump", "-Xlog:disable"]))
    })
}
