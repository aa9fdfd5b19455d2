//! The archive of `libasgst`: what it needs, what it exports, and that a profiler can be built with it alone.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::finish;
use test_support::{jdks, run};

/// The newest version of glibc that the library may need.
const NEWEST: (u32, u32) = (2, 17);

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A program that needs nothing of Java.
const PROGRAM: &str = r#"
#include "profile2.h"
#include <stdio.h>
int main(void) {
  ASGST_CallTrace trace = {0, 0, 0, 0};
  AsyncGetStackTrace(&trace, 0, 0, 0);
  printf("%d %d %d\n", ASGST_Version() == ASGST_VERSION, trace.num_frames, ASGST_Initialize(0));
  return 0;
}
"#;

/// Makes the archives, and unpacks that of the library.
fn unpacked(folder: &Path) -> PathBuf {
    let dist = folder.join("dist");
    let mut make = Command::new(env!("CARGO_BIN_EXE_xtask"));
    make.args(["dist", "libasgst", "--out"]).arg(&dist);
    finish(&mut make, "the archive");
    let name = format!("libasgst-{VERSION}-x86_64-linux");
    for ending in [".tar.gz", "-debug.tar.gz"] {
        let archive = dist.join(format!("{name}{ending}"));
        run(Command::new("tar")
            .arg("-xzf")
            .arg(archive)
            .arg("-C")
            .arg(folder))
        .ok();
    }
    folder.join(name)
}

/// The versions of glibc that a file needs.
fn versions(file: &Path) -> Vec<(u32, u32)> {
    let table = run(Command::new("readelf")
        .args(["--wide", "--version-info"])
        .arg(file))
    .ok();
    let names = table.split("GLIBC_").skip(1);
    let numbers = names.filter_map(|name| {
        let end = name.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let mut numbers = name[..end].split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    numbers.collect()
}

/// The global symbols that a file defines, with their versions.
fn defined(file: &Path, table: &str) -> Vec<String> {
    let text = run(Command::new("readelf").args(["--wide", table]).arg(file)).ok();
    let rows = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let rows = rows.filter(|row| row.len() > 7 && row[4] == "GLOBAL" && row[6] != "UND");
    let mut names: Vec<String> = rows
        .filter(|row| row[3] == "FUNC")
        .map(|row| row[7].to_owned())
        .collect();
    names.sort();
    names
}

fn names_in_script() -> Vec<String> {
    let script = support::project().join("walker/library/asgst.map");
    let script = fs::read_to_string(script).unwrap();
    let names = script
        .split_whitespace()
        .filter_map(|word| word.strip_suffix(';'));
    let names = names.filter(|name| name.starts_with('A'));
    names.map(str::to_owned).collect()
}

/// Compiles and runs [`PROGRAM`] with these arguments of the linker.
fn runs(root: &Path, jdk: &Path, name: &str, link: &str) {
    let folder = root.parent().unwrap();
    let source = folder.join("program.c");
    fs::write(&source, PROGRAM).unwrap();
    let script = format!(
        "cc -Wall -Wextra -pedantic -Werror -o {name} program.c -I$JAVA_HOME/include -I$JAVA_HOME/include/linux {link} \
         && ./{name}"
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-ec", &script])
        .env("ASGST", root)
        .env("JAVA_HOME", jdk)
        .current_dir(folder);
    // No VM: ASGST_NOT_READY.
    assert_eq!(run(&mut shell).ok(), "1 -17 -17\n", "{name}");
}

#[test]
#[ignore = "builds a release of the library: minutes; .ci/run asks for it"]
fn the_archive_of_libasgst_is_enough_for_a_profiler() {
    let folder = tempfile::tempdir().unwrap();
    let root = unpacked(folder.path());
    let library = root.join("lib/libasgst.so.0");
    let needed = versions(&library);
    assert!(!needed.is_empty());
    assert!(
        needed.iter().all(|version| *version <= NEWEST),
        "{needed:?}"
    );

    let exported = defined(&library, "--dyn-syms");
    let expected: Vec<String> = names_in_script();
    let versioned = expected.iter().map(|name| format!("{name}@@ASGST_0.1"));
    assert_eq!(exported, versioned.collect::<Vec<_>>());
    assert_eq!(defined(&root.join("lib/libasgst.a"), "--syms"), expected);

    let debug = folder
        .path()
        .join(format!("libasgst-{VERSION}-x86_64-linux-debug"));
    let found = run(Command::new("find").arg(&debug).args(["-name", "*.debug"])).ok();
    let notes = |file: &str| run(Command::new("readelf").args(["--notes", file])).ok();
    let library_notes = notes(&library.display().to_string());
    let id = library_notes.split("Build ID: ").nth(1).unwrap().trim();
    let path = format!("lib/debug/.build-id/{}/{}.debug\n", &id[..2], &id[2..40]);
    assert!(found.ends_with(&path), "{found} {path}");

    let Some(jdk) = jdks().into_iter().next() else {
        println!("skipped: no JDK found for the headers");
        return;
    };
    runs(
        &root,
        &jdk,
        "shared",
        "-I$ASGST/include -L$ASGST/lib -Wl,-rpath,$ASGST/lib -lasgst",
    );
    let fixed = "-I$ASGST/include $ASGST/lib/libasgst.a -lgcc_s -lpthread -lm -ldl";
    runs(&root, &jdk, "fixed", fixed);
    if Command::new("pkg-config").arg("--version").output().is_ok() {
        let flags = "$(PKG_CONFIG_PATH=$ASGST/lib/pkgconfig pkg-config --cflags --libs asgst) -Wl,-rpath,$ASGST/lib";
        runs(&root, &jdk, "described", flags);
    } else {
        println!("skipped: no pkg-config");
    }
    with_cmake(&root, &jdk);
}

/// Builds [`PROGRAM`] with CMake, with either library.
fn with_cmake(root: &Path, jdk: &Path) {
    if Command::new("cmake").arg("--version").output().is_err() {
        println!("skipped: no cmake");
        return;
    }
    let folder = root.parent().unwrap();
    let list = "cmake_minimum_required(VERSION 3.13)\nproject(program C)\nfind_package(asgst 0.1 REQUIRED)\n\
        foreach(kind asgst static)\nadd_executable(${kind} program.c)\n\
        target_include_directories(${kind} PRIVATE $ENV{JAVA_HOME}/include $ENV{JAVA_HOME}/include/linux)\n\
        target_link_libraries(${kind} asgst::${kind})\nendforeach()\n";
    fs::write(folder.join("CMakeLists.txt"), list).unwrap();
    let script = "cmake -S . -B build -DCMAKE_PREFIX_PATH=$ASGST > log && cmake --build build >> log && \
                  build/asgst && build/static";
    let mut shell = Command::new("sh");
    shell
        .args(["-ec", script])
        .env("ASGST", root)
        .env("JAVA_HOME", jdk)
        .current_dir(folder);
    assert_eq!(run(&mut shell).ok(), "1 -17 -17\n1 -17 -17\n");
}
