//! The files of an installed `libasgst`, with the library that cargo has built.

use classfile_testing::jdk::Jdk;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of this crate.
pub fn walker() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Puts headers and library into `root`, under the names and in the folders that the archive has.
pub fn install(root: &Path) {
    let put = |file: &Path, name: &str| {
        let to = root.join(name);
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        fs::copy(file, &to).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    };
    for header in ["profile2.h", "asgst.hpp"] {
        put(
            &walker().join("include").join(header),
            &format!("include/{header}"),
        );
    }
    put(&shared_library(), "lib/libasgst.so.0");
    let link = root.join("lib/libasgst.so");
    if !link.exists() {
        symlink("libasgst.so.0", link).expect("a link");
    }
}

/// What cargo has built, in the folder of this program.
pub fn shared_library() -> PathBuf {
    let program = std::env::current_exe().expect("a path");
    program.with_file_name("libasgst.so")
}

/// A compiler with the folders of the headers of `root` and `jdk`.
pub fn compiler(name: &str, root: &Path, jdk: &Jdk) -> Command {
    let include = jdk.home.join("include");
    let mut command = Command::new(name);
    for folder in [root.join("include"), include.join("linux"), include] {
        command.arg("-I").arg(folder);
    }
    command
}
