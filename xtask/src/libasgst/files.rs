//! The files of an installed `libasgst`: `include`, `lib` and `share`, as below `/usr`.

use crate::libasgst::link::{Libraries, VERSION};
use crate::tree::{copy, copy_as, write};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// What build systems look for, and where.
const DESCRIPTIONS: [(&str, &str); 3] = [
    ("asgst.pc", "lib/pkgconfig"),
    ("asgst-config.cmake", "lib/cmake/asgst"),
    ("asgst-config-version.cmake", "lib/cmake/asgst"),
];

/// Files of the workspace, and where they go.
const COPIES: [(&str, &str); 12] = [
    ("walker/include/profile2.h", "include"),
    ("walker/include/asgst.hpp", "include"),
    ("walker/examples/profiler.c", "share/doc/libasgst/examples"),
    ("walker/examples/queue.cpp", "share/doc/libasgst/examples"),
    (
        "walker/examples/tiny-profiler/MANIFEST.MF",
        "share/doc/libasgst/examples/tiny-profiler",
    ),
    (
        "walker/examples/tiny-profiler/Main.java",
        "share/doc/libasgst/examples/tiny-profiler",
    ),
    (
        "walker/examples/tiny-profiler/Options.java",
        "share/doc/libasgst/examples/tiny-profiler",
    ),
    (
        "walker/examples/tiny-profiler/Profiler.java",
        "share/doc/libasgst/examples/tiny-profiler",
    ),
    (
        "walker/examples/tiny-profiler/Store.java",
        "share/doc/libasgst/examples/tiny-profiler",
    ),
    ("docs/guide/libasgst.md", "share/doc/libasgst"),
    ("docs/walker.md", "share/doc/libasgst"),
    ("LICENSE", "share/doc/libasgst"),
];

/// Puts all files into `root`, which may have others.
pub fn lay_out(workspace: &Path, built: &Libraries, root: &Path) -> Result<(), String> {
    let libraries = root.join("lib");
    copy(&built.fixed, &libraries)?;
    let file = copy(&built.shared, &libraries)?;
    let name = file.file_name().unwrap_or_default();
    for link in [
        "libasgst.so".into(),
        format!("libasgst.so.{}", VERSION.major),
    ] {
        symlink(name, libraries.join(&link)).map_err(|e| format!("{link}: {e}"))?;
    }
    for (file, folder) in COPIES {
        copy(&workspace.join(file), &root.join(folder))?;
    }
    for (name, folder) in DESCRIPTIONS {
        let template = workspace.join("walker/library/package").join(name);
        let text = fs::read_to_string(&template)
            .map_err(|e| format!("{}: {e}", template.display()))?
            .replace("@VERSION@", VERSION.full)
            .replace("@MAJOR@", VERSION.major)
            .replace("@URL@", env!("CARGO_PKG_REPOSITORY"));
        write(&root.join(folder).join(name), text.as_bytes())?;
    }
    Ok(())
}

/// Puts the debug information into `root`, where debuggers look for it below `/usr` by the build id.
pub fn lay_out_debug(built: &Libraries, root: &Path) -> Result<(), String> {
    let (folder, file) = built
        .build_id
        .split_at_checked(2)
        .ok_or("a build id is too short")?;
    let folder = root.join("lib/debug/.build-id").join(folder);
    copy_as(&built.debug, &folder.join(format!("{file}.debug")))
}
