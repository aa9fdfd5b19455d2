//! Compiles the Java side: the hook classes one by one, the fixtures into a jar.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release of the fixtures' class files, and so the oldest JDK that can compile them.
const RELEASE: &str = "17";
/// The release of the hook classes, which must load wherever the agent loads.
const TRACE_RELEASE: &str = "11";
/// The folders of `java/trace`. Each becomes `OUT_DIR/trace-NAME`.
const TRACE_VARIANTS: &[&str] = &["exact", "light"];
/// The timestamp of the jar's entries, so that the same classes make the same jar.
const EPOCH: &str = "1980-01-01T00:00:02Z";

/// The jar is also a Java agent, for the fixture `redefinition`.
const MANIFEST: &str = "\
Main-Class: stackwitness.fixtures.Main
Premain-Class: stackwitness.fixtures.Redefinition
Can-Redefine-Classes: true
Can-Retransform-Classes: true
";

fn main() {
    println!("cargo::rerun-if-changed=java");
    println!("cargo::rerun-if-changed=build.rs");
    if let Err(message) = build() {
        println!("cargo::error={}", message.trim_end().replace('\n', " | "));
    }
}

fn build() -> Result<(), String> {
    let java = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("java");
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let javac = find_javac().ok_or_else(|| {
        format!(
            "no javac {RELEASE} or later in PATH, /usr/lib/jvm or JAVA_HOME; install one: \
             apt-get install openjdk-{RELEASE}-jdk-headless"
        )
    })?;

    for variant in TRACE_VARIANTS {
        let sources = java.join("trace").join(variant);
        // The stubs declare what the agent adds to classes of java.base.
        let stubs = java.join("trace-stubs");
        let patch = env::join_paths([&sources, &stubs]).map_err(|e| e.to_string())?;
        let patch = format!("java.base={}", Path::new(&patch).display());
        let mut command = Command::new(&javac);
        command.args([
            "-source",
            TRACE_RELEASE,
            "-target",
            TRACE_RELEASE,
            "-Xlint:-options",
        ]);
        command.args(["-g:source,lines", "--patch-module", &patch]);
        compile(command, &sources, &out.join(format!("trace-{variant}")))?;
    }

    let classes = out.join("fixtures");
    let mut command = Command::new(&javac);
    // With -g, so that a rewriter meets local variable tables too.
    command.args(["--release", RELEASE, "-g", "-nowarn", "-Xlint:none"]);
    compile(command, &java.join("fixtures"), &classes)?;
    pack(&javac, &classes, &out.join("fixtures.jar"))
}

/// The first `javac` in the usual places that can compile for `RELEASE`. `JAVA_HOME` is the last of them, and a change of it
/// compiles nothing anew: it names the JDK that is judged, often another one from test to test.
fn find_javac() -> Option<PathBuf> {
    let mut candidates = Vec::new();
    if let Some(path) = env::var_os("PATH") {
        candidates.extend(env::split_paths(&path).map(|dir| dir.join("javac")));
    }
    let mut installed: Vec<_> = fs::read_dir("/usr/lib/jvm")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin/javac"))
        .map(|javac| (version(&javac), javac))
        .collect();
    installed.sort();
    candidates.extend(installed.into_iter().rev().map(|(_, javac)| javac));
    if let Some(home) = env::var_os("JAVA_HOME") {
        candidates.push(PathBuf::from(home).join("bin/javac"));
    }
    candidates
        .into_iter()
        .find(|javac| version(javac) >= RELEASE.parse().ok())
        // `javac` on the path may be a link. `jar` lies next to the file itself.
        .and_then(|javac| javac.canonicalize().ok())
}

/// The feature release of a javac, from a line like `javac 17.0.15`.
fn version(javac: &Path) -> Option<u32> {
    if !javac.is_file() {
        return None;
    }
    let output = Command::new(javac).arg("-version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let number = text.strip_prefix("javac ")?;
    let end = number.find(|c: char| !c.is_ascii_digit());
    number[..end.unwrap_or(number.len())].parse().ok()
}

fn compile(mut command: Command, sources: &Path, classes: &Path) -> Result<(), String> {
    // Class files whose sources were removed must not stay.
    let _ = fs::remove_dir_all(classes);
    fs::create_dir_all(classes).map_err(|e| format!("{}: {e}", classes.display()))?;
    command.args(["-encoding", "UTF-8", "-proc:none", "-implicit:none"]);
    command.arg("-d").arg(classes);
    command.args(files(sources, "java"));
    run(command)
}

fn pack(javac: &Path, classes: &Path, jar: &Path) -> Result<(), String> {
    let manifest = jar.with_extension("manifest");
    fs::write(&manifest, MANIFEST).map_err(|e| format!("{}: {e}", manifest.display()))?;
    let mut command = Command::new(javac.with_file_name("jar"));
    command.args(["--create", "--date", EPOCH, "--manifest"]);
    command.arg(&manifest).arg("--file").arg(jar);
    command.current_dir(classes);
    for class in files(classes, "class") {
        command.arg(class.strip_prefix(classes).unwrap());
    }
    run(command)
}

fn run(mut command: Command) -> Result<(), String> {
    let program = command.get_program().to_owned();
    let program = Path::new(&program).display();
    let output = command.output().map_err(|e| format!("{program}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let (out, err) = (output.stdout, output.stderr);
    let said = String::from_utf8_lossy(&[out, err].concat()).into_owned();
    Err(format!("{program}: {}\n{said}", output.status))
}

/// All files with an extension below a folder, sorted.
fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension() == Some(OsStr::new(extension)) {
            found.push(path);
        }
    }
    found.sort();
    found
}
