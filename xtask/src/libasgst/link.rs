//! Links the shared and the static library from the objects that cargo built.
//!
//! Cargo's own shared library has no versions of symbols, because rustc gives the linker a list of symbols without
//! versions, which cannot be combined with another. Its static library defines all symbols of Rust's library, which
//! would clash with those of another such library in one program. So the linker first makes one object of what the
//! functions of `profile2.h` need, in which all other symbols are local.

use crate::command::{output, run};
use crate::glibc;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The libraries.
pub struct Libraries {
    /// The shared library, without debug information.
    pub shared: PathBuf,
    /// The debug information of the shared library.
    pub debug: PathBuf,
    /// The build id of both, in hexadecimal.
    pub build_id: String,
    /// The static library, without debug information.
    pub fixed: PathBuf,
}

/// The version of the libraries.
pub struct Version {
    /// The whole version.
    pub full: &'static str,
    /// Its first number.
    pub major: &'static str,
}

/// The version of this workspace.
pub const VERSION: Version = Version {
    full: env!("CARGO_PKG_VERSION"),
    major: env!("CARGO_PKG_VERSION_MAJOR"),
};

/// Links the libraries of `objects` in `folder`. `script` is the version script.
pub fn link(objects: &Path, script: &Path, folder: &Path) -> Result<Libraries, String> {
    let fail = |e| format!("{}: {e}", folder.display());
    fs::create_dir_all(folder).map_err(fail)?;
    let stubs = glibc::write_stubs(&folder.join("glibc"), glibc::OF_LIBRARY)?;
    let text = fs::read_to_string(script).map_err(|e| format!("{}: {e}", script.display()))?;
    let symbols = exported(&text);
    let object = one_object(objects, &stubs, &symbols, folder)?;
    let fixed = archive(&object, folder)?;
    let shared = folder.join(format!("libasgst.so.{}", VERSION.full));
    run(Command::new("cc")
        .args(["-shared", "-nostartfiles", "-o"])
        .arg(&shared)
        .args(symbols.iter().map(|symbol| format!("-Wl,-u,{symbol}")))
        .arg(&object)
        .arg(format!("-L{}", stubs.display()))
        .arg(format!("-Wl,-soname,libasgst.so.{}", VERSION.major))
        .arg(format!("-Wl,--version-script={}", script.display()))
        .args([
            "-Wl,--gc-sections,--build-id=sha1,--as-needed,-O1",
            "-Wl,-z,relro,-z,now,-z,noexecstack",
            "-Wl,--allow-shlib-undefined",
            "-lgcc_s",
        ]))?;
    let debug = folder.join("libasgst.debug");
    run(Command::new("objcopy")
        .arg("--only-keep-debug")
        .args([&shared, &debug]))?;
    run(Command::new("strip").arg("--strip-debug").arg(&shared))?;
    Ok(Libraries {
        build_id: build_id(&shared)?,
        shared,
        debug,
        fixed,
    })
}

/// The names in a version script: those before `local:`, in each node.
fn exported(script: &str) -> Vec<&str> {
    let names = script.split(['{', '}']).flat_map(|node| {
        let global = node.split_once("global:").map_or("", |(_, names)| names);
        let names = global.split("local:").next().unwrap_or_default();
        names.split(';').map(str::trim)
    });
    names.filter(|name| !name.is_empty()).collect()
}

/// One object with all that `symbols` need, in which no other symbol is global.
fn one_object(
    objects: &Path,
    stubs: &Path,
    symbols: &[&str],
    folder: &Path,
) -> Result<PathBuf, String> {
    let (all, kept) = (folder.join("all.o"), folder.join("asgst.o"));
    run(Command::new("ld")
        .args(["-r", "--gc-sections", "-o"])
        .arg(&all)
        .args(symbols.iter().flat_map(|symbol| ["-u", symbol]))
        .arg(objects)
        // Functions of a newer glibc, for a program that is linked with an older one.
        .arg(stubs.join("added.o")))?;
    let list = folder.join("symbols");
    fs::write(&list, symbols.join("\n")).map_err(|e| format!("{}: {e}", list.display()))?;
    run(Command::new("objcopy")
        .arg(format!("--keep-global-symbols={}", list.display()))
        // Bitcode of rustc's LLVM, which tools with the plugin of another LLVM refuse to read.
        .args(["--remove-section=.llvmbc", "--remove-section=.llvmcmd"])
        .args([&all, &kept]))?;
    Ok(kept)
}

/// The static library: `object` alone.
fn archive(object: &Path, folder: &Path) -> Result<PathBuf, String> {
    let (bare, archive) = (folder.join("libasgst.o"), folder.join("libasgst.a"));
    run(Command::new("strip")
        .args(["--strip-debug", "-o"])
        .args([&bare, object]))?;
    if archive.exists() {
        fs::remove_file(&archive).map_err(|e| format!("{}: {e}", archive.display()))?;
    }
    run(Command::new("ar").arg("rcsD").args([&archive, &bare]))?;
    Ok(archive)
}

/// The build id of a file, from a line like `    Build ID: 0a1b…` of `readelf --notes`.
fn build_id(file: &Path) -> Result<String, String> {
    let notes = output(Command::new("readelf").arg("--notes").arg(file))?;
    let notes = String::from_utf8_lossy(&notes);
    let mut lines = notes.lines();
    let id = lines.find_map(|line| line.trim().strip_prefix("Build ID: "));
    id.map(str::to_owned)
        .ok_or_else(|| format!("{} has no build id", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_all_nodes_of_a_version_script_are_read() {
        let script =
            "/* text; */\nV_1 {\n global:\n a;\n b;\n local:\n *;\n};\nV_2 { global: c; } V_1;\n";
        assert_eq!(exported(script), ["a", "b", "c"]);
    }
}
