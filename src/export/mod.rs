//! `stackwitness export`: tests for other test suites.

use crate::cli::ExportArgs;
use crate::error::Error;
use crate::exit;
use crate::output::{Stream, print};
use scenarios::{scenario::BUILT_IN, store};
use std::io;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The scenario of the test.
const SCENARIO: &str = "test";

/// The file by which jtreg knows a test suite.
const ROOT: &str = "TEST.ROOT";

/// What stands in the files of the test suite.
const FILES: [(&str, &str); 4] = [
    (ROOT, include_str!("jtreg/TEST.ROOT")),
    ("README.md", include_str!("jtreg/README.md")),
    ("Stackwitness.java", include_str!("jtreg/Stackwitness.java")),
    (
        "lib/jtreg/SkippedException.java",
        include_str!("jtreg/SkippedException.java"),
    ),
];

/// The folder of native libraries and of the program, in the test suite.
const NATIVE: &str = "native";

/// Writes the test suite.
pub fn export(args: ExportArgs) -> Result<u8, Error> {
    let dir = args.jtreg;
    check_folder(&dir)?;
    for (name, text) in FILES {
        write(&dir.join(name), text)?;
    }
    let scenario = BUILT_IN.iter().find(|(name, _)| *name == SCENARIO);
    let (_, scenario) = scenario.expect("a built-in scenario");
    write(&dir.join("test.toml"), scenario)?;
    let native = dir.join(NATIVE);
    let program = env::current_exe().map_err(Error::about::<io::Error>(&native))?;
    copy(&program, &native.join("stackwitness"))?;
    let placed = scenarios::place_libraries(&native)?;
    for library in placed {
        let name = library.file_name().unwrap_or_default();
        copy(&library, &native.join(name))?;
    }
    let text = format!(
        "wrote a jtreg test; run it with\n  jtreg -jdk:JDK -nativepath:{} {}\n",
        native.display(),
        dir.display()
    );
    print(Stream::Output, &text)?;
    Ok(exit::WITHIN)
}

/// Fails if the folder has anything but an earlier export.
fn check_folder(dir: &Path) -> Result<(), Error> {
    let Ok(mut entries) = fs::read_dir(dir) else {
        return Ok(());
    };
    let is_empty = entries.next().is_none();
    let root = fs::read_to_string(dir.join(ROOT)).unwrap_or_default();
    if is_empty || root == FILES[0].1 {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{} has other files: name a new folder",
        dir.display()
    )))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    make_parent(path)?;
    store::write_file(path, text.as_bytes())?;
    Ok(())
}

/// Copies a file with its permissions. It may be there already.
fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    make_parent(to)?;
    let same = |path: &Path| path.canonicalize().ok();
    if same(from) == same(to) && to.exists() {
        return Ok(());
    }
    fs::copy(from, to).map_err(cannot_write(to))?;
    Ok(())
}

fn make_parent(path: &Path) -> Result<(), Error> {
    let parent: PathBuf = path.parent().unwrap_or(Path::new(".")).into();
    fs::create_dir_all(&parent).map_err(cannot_write(&parent))
}

/// Who names a folder that cannot be written must name another.
fn cannot_write(path: &Path) -> impl Fn(io::Error) -> Error {
    move |source| {
        Error::usage(format!(
            "cannot write to {}: {source}; give another folder with --jtreg",
            path.display()
        ))
    }
}
