//! Libraries that replace the libraries of an older glibc when the program is linked.
//!
//! A program that is linked against a new glibc asks for the newest version of each function, and
//! an older glibc refuses to run the program. glibc keeps the older versions for programs that were
//! linked long ago. The libraries here export each function of this machine's glibc under the
//! newest version that the older glibc has, and have no code: the linker reads names and versions only.

use crate::command::{output, run};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest glibc that the program runs with.
pub const OF_PROGRAM: Version = [2, 28];

/// The oldest glibc that `libasgst` runs with, which is also the oldest that Rust's library supports.
pub const OF_LIBRARY: Version = [2, 17];

/// The libraries of the C library that the program is linked against.
const LIBRARIES: [&str; 2] = ["libc.so.6", "libm.so.6"];

/// Libraries that functions were in before glibc 2.34, by the prefix of their names.
const FORMER: [(&str, &str); 3] = [
    ("pthread_", "libpthread.so.0"),
    ("sem_", "libpthread.so.0"),
    ("dl", "libdl.so.2"),
];

/// Functions that glibc 2.33 added for programs, and that older versions have under other names
/// only (glibc 2.33, NEWS; `sysdeps/unix/sysv/linux/x86/xstatver.h`: version 1 of the structure).
const ADDED: &str = r#"
int __xstat64(int, const char *, void *);
int __fxstat64(int, int, void *);
int __lxstat64(int, const char *, void *);
int __fxstatat64(int, int, const char *, void *, int);
#define HIDDEN __attribute__((visibility("hidden")))
HIDDEN int stat64(const char *path, void *to) { return __xstat64(1, path, to); }
HIDDEN int fstat64(int file, void *to) { return __fxstat64(1, file, to); }
HIDDEN int lstat64(const char *path, void *to) { return __lxstat64(1, path, to); }
HIDDEN int fstatat64(int folder, const char *path, void *to, int flags) {
    return __fxstatat64(1, folder, path, to, flags);
}
"#;

/// A release of glibc.
pub type Version = [u32; 2];

/// The version of a function, as `[2, 2, 5]` for `GLIBC_2.2.5`.
type SymbolVersion = Vec<u32>;

/// An exported symbol.
struct Symbol {
    name: String,
    version: SymbolVersion,
    /// The size of data in bytes; `None` for a function.
    data: Option<u64>,
}

/// Writes the libraries of glibc `oldest` into `folder`, which becomes a place where the linker looks for libraries.
pub fn write_stubs(folder: &Path, oldest: Version) -> Result<PathBuf, String> {
    let fail = |e| format!("{}: {e}", folder.display());
    fs::create_dir_all(folder).map_err(fail)?;
    let mut libraries: BTreeMap<&str, Vec<Symbol>> = BTreeMap::new();
    for library in LIBRARIES {
        for symbol in symbols(library, oldest)? {
            let former = FORMER
                .iter()
                .find(|(start, _)| symbol.name.starts_with(start));
            let place = former.map_or(library, |&(_, former)| former);
            libraries.entry(place).or_default().push(symbol);
        }
    }
    for (library, symbols) in &libraries {
        write_stub(folder, library, symbols)?;
    }
    fs::write(folder.join("added.c"), ADDED).map_err(fail)?;
    run(Command::new("cc")
        .args([
            "-O2",
            "-fPIC",
            "-fno-builtin",
            "-c",
            "added.c",
            "-o",
            "added.o",
        ])
        .current_dir(folder))?;
    // `-lc` and `-lm` read these scripts (ld, "Implicit Linker Scripts").
    let stub = |library: &str| folder.join(library).display().to_string();
    let parts = libraries
        .keys()
        .filter(|library| **library != "libm.so.6")
        .map(|library| stub(library));
    let parts: Vec<String> = parts.collect();
    let script = format!(
        "GROUP ( {} {} AS_NEEDED ( /lib64/ld-linux-x86-64.so.2 ) )\n",
        parts.join(" "),
        stub("added.o")
    );
    fs::write(folder.join("libc.so"), script).map_err(fail)?;
    fs::write(
        folder.join("libm.so"),
        format!("GROUP ( {} )\n", stub("libm.so.6")),
    )
    .map_err(fail)?;
    Ok(folder.into())
}

/// The exported symbols of a library of this machine, each in the newest version that glibc `oldest`
/// has.
fn symbols(library: &str, oldest: Version) -> Result<Vec<Symbol>, String> {
    let path = output(Command::new("cc").arg(format!("-print-file-name={library}")))?;
    let path = String::from_utf8_lossy(&path).trim().to_owned();
    let table = output(
        Command::new("readelf")
            .args(["--wide", "--dyn-syms"])
            .arg(&path),
    )?;
    let mut newest: BTreeMap<String, Symbol> = BTreeMap::new();
    for symbol in String::from_utf8_lossy(&table).lines().filter_map(symbol) {
        let known = newest.get(&symbol.name);
        if symbol.version[..] <= oldest[..]
            && known.is_none_or(|known| known.version < symbol.version)
        {
            newest.insert(symbol.name.clone(), symbol);
        }
    }
    if newest.is_empty() {
        Err(format!(
            "{path} exports nothing of glibc {oldest:?} or older"
        ))
    } else {
        Ok(newest.into_values().collect())
    }
}

/// Reads a line of `readelf --dyn-syms`: number, value, size, type, binding, visibility, section and
/// `name@version`.
fn symbol(line: &str) -> Option<Symbol> {
    let columns: Vec<&str> = line.split_whitespace().collect();
    let [_, _, size, kind, _, _, section, name] = columns[..] else {
        return None;
    };
    let (name, version) = name.split_once('@')?;
    let version = version.trim_start_matches('@').strip_prefix("GLIBC_")?;
    let version: Result<SymbolVersion, _> = version.split('.').map(str::parse).collect();
    let data = match kind {
        "FUNC" | "IFUNC" => None,
        "OBJECT" => Some(size.parse().ok()?),
        _ => return None,
    };
    (section != "UND").then_some(Symbol {
        name: name.into(),
        version: version.ok()?,
        data,
    })
}

fn write_stub(folder: &Path, library: &str, symbols: &[Symbol]) -> Result<(), String> {
    let mut code = String::new();
    let mut versions: BTreeMap<&SymbolVersion, String> = BTreeMap::new();
    for Symbol {
        name,
        version,
        data,
    } in symbols
    {
        let (section, kind, size) = match data {
            None => (".text", "@function", 1),
            Some(size) => (".data", "@object", (*size).max(1)),
        };
        let _ = writeln!(
            code,
            "{section}\n.globl {name}\n.type {name}, {kind}\n.size {name}, {size}\n{name}: .skip {size}"
        );
        let _ = write!(versions.entry(version).or_default(), " {name};");
    }
    let script = versions.iter().map(|(version, names)| {
        let version: Vec<String> = version.iter().map(u32::to_string).collect();
        format!("GLIBC_{} {{ global:{names} }};\n", version.join("."))
    });
    let fail = |e| format!("{}: {e}", folder.display());
    let (assembly, map) = (format!("{library}.s"), format!("{library}.map"));
    fs::write(folder.join(&assembly), code).map_err(fail)?;
    fs::write(folder.join(&map), script.collect::<String>()).map_err(fail)?;
    run(Command::new("cc")
        .args(["-shared", "-nostdlib", "-o", library])
        .arg(format!("-Wl,-soname,{library}"))
        .arg(format!("-Wl,--version-script,{map}"))
        .arg(assembly)
        .current_dir(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_readelf_are_read() {
        let line =
            "   215: 0000000000088d20   712 FUNC    GLOBAL DEFAULT   15 pthread_create@@GLIBC_2.34";
        let read = symbol(line).unwrap();
        assert_eq!(
            (read.name.as_str(), &read.version[..], read.data),
            ("pthread_create", &[2, 34][..], None)
        );
        let line = "  1: 00000000001d4aa0     8 OBJECT  WEAK   DEFAULT   33 environ@@GLIBC_2.2.5";
        assert_eq!(symbol(line).unwrap().data, Some(8));
        let line =
            "  2: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND __tls_get_addr@GLIBC_2.3 (2)";
        assert!(symbol(line).is_none());
        assert!(
            symbol("   Num:    Value          Size Type    Bind   Vis      Ndx Name").is_none()
        );
    }
}
