//! Java programs with known call shapes, and the Java side of the hooks.
//!
//! The build script compiles both with `javac` and this crate carries them, so a
//! finished binary needs no compiler and no files besides itself:
//!
//! - [`FIXTURES_JAR`]: small programs, each making one kind of call that stack walkers are known to
//!   get wrong, and a driver of the JDK's own compiler. They check their own results, and print
//!   nothing that depends on time: the output with an agent and without must be the same.
//! - [`TRACE_EXACT`] and [`TRACE_LIGHT`]: two forms of the class whose static methods the rewritten
//!   code calls.
//!
//! [`write_to`] puts both on disk for a JVM to load:
//!
//! ```no_run
//! let installed = java_fixtures::write_to("stackwitness-out".as_ref())?;
//! std::process::Command::new("java")
//!     .arg("-cp").arg(&installed.fixtures_jar)
//!     .args([java_fixtures::MAIN_CLASS, "math-parser", "--millis", "500"])
//!     .status()?;
//! # std::io::Result::Ok(())
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

/// The fixtures as a jar: class files of version 61 (Java 17).
pub const FIXTURES_JAR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/fixtures.jar"));

/// The hooks of the exact mode: native methods. A class file that Java 11 and later load.
pub const TRACE_EXACT: &[u8] = include_bytes!(concat!(
    env!("OUT_DIR"),
    "/trace-exact/java/lang/StackwitnessTrace.class"
));

/// The hooks of the light mode: Java methods. A class file that Java 11 and later load.
pub const TRACE_LIGHT: &[u8] = include_bytes!(concat!(
    env!("OUT_DIR"),
    "/trace-light/java/lang/StackwitnessTrace.class"
));

/// Runs fixtures: `NAME... [--millis N | --rounds N] [--seed N] [--times] | --list`.
pub const MAIN_CLASS: &str = "stackwitness.fixtures.Main";

/// Runs the JDK's own compiler in process over generated sources:
/// `[--files N] [--rounds N | --millis N] [--seed N] [--times] [--write DIR]`.
pub const JAVAC_CLASS: &str = "stackwitness.fixtures.Javac";

/// The fixtures that [`MAIN_CLASS`] runs when no name is given, in order.
pub const FIXTURE_NAMES: &[&str] = &[
    "recursion-shallow",
    "recursion-deep",
    "mutual-recursion",
    "many-arguments",
    "large-frames",
    "exceptions-up",
    "try-finally",
    "constructors",
    "constructors-throw",
    "static-init",
    "static-init-fails",
    "dispatch-virtual",
    "dispatch-interface",
    "default-methods",
    "bridge-methods",
    "synchronized",
    "contended",
    "wait-notify",
    "lambdas",
    "streams",
    "parallel-streams",
    "method-handles",
    "var-handles",
    "reflection",
    "proxies",
    "string-concat",
    "switches",
    "records",
    "inner-classes",
    "native-calls",
    "math-parser",
    "upcalls",
    "class-loading",
    "fresh-code",
    "huge-methods",
    "stack-traces",
    "short-threads",
    "live-threads",
    "thread-pools",
    "fork-join",
    "futures",
    "thread-locals",
    "interrupts",
    "timers",
    "finalizers",
    "sorting",
    "hash-maps",
    "tree-maps",
    "regexes",
    "big-integers",
    "text-format",
    "serialization",
    "intrinsics",
    "tiny-leaves",
    "osr-loops",
    "deopt-hierarchy",
    "deopt-traps",
    "implicit-exceptions",
    "moved-stack-pointer",
];

/// The fixture that redefines classes: it needs the jar as `-javaagent`.
pub const REDEFINITIONS: [&str; 2] = ["redefinition", "redefinition-edited"];

/// The fixtures that run by name only: a round takes seconds, or the fixture needs options of the
/// VM, or is meant for one layer.
pub const STRESS_NAMES: &[&str] = &[
    "all-ways",
    "checksums",
    "epilogues",
    "contended-recursion",
    "held-monitors",
    "stack-overflow",
    "method-handles-interpreted",
    "recursion-very-deep",
    "threads-10000",
    "threads-1000-live",
    "virtual-threads-10000",
    "frames-in-heap",
    "class-unloading",
    "loader-generations",
    REDEFINITIONS[0],
    REDEFINITIONS[1],
    "foreign-upcalls",
];

/// What [`write_to`] wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// [`FIXTURES_JAR`].
    pub fixtures_jar: PathBuf,
    /// [`TRACE_EXACT`].
    pub trace_exact: PathBuf,
    /// [`TRACE_LIGHT`].
    pub trace_light: PathBuf,
}

/// Writes the jar and the hook classes into a folder, which is made if absent.
///
/// Files with the same content are left alone. Other files are replaced in one step, so that a JVM
/// which runs from them never sees half a file.
pub fn write_to(dir: &Path) -> io::Result<Installed> {
    fs::create_dir_all(dir)?;
    Ok(Installed {
        fixtures_jar: write(dir, "stackwitness-fixtures.jar", FIXTURES_JAR)?,
        trace_exact: write(dir, "StackwitnessTrace-exact.class", TRACE_EXACT)?,
        trace_light: write(dir, "StackwitnessTrace-light.class", TRACE_LIGHT)?,
    })
}

fn write(dir: &Path, name: &str, content: &[u8]) -> io::Result<PathBuf> {
    let path = dir.join(name);
    if fs::read(&path).is_ok_and(|old| old == content) {
        return Ok(path);
    }
    // The name has the process id, because two processes may write into the folder.
    let part = dir.join(format!(".{name}.{}", process::id()));
    let result = fs::write(&part, content).and_then(|()| fs::rename(&part, &path));
    if result.is_err() {
        let _ = fs::remove_file(&part);
    }
    result.map(|()| path)
}
