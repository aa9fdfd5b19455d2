//! Where class files are: class paths and module paths as a JVM has them.

use crate::support::calls::calls;
use crate::support::{Output, jdks, run, stackwitness};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Calls a class of a library for a second and a half.
const MAIN: &str = "package app; public class Main {
    public static void main(String[] args) {
        long end = System.nanoTime() + 1_500_000_000L;
        int sum = 0;
        while (System.nanoTime() < end) sum += part(sum);
        System.out.println(sum);
    }
    static int part(int n) { return lib.Lib.work(n); }
}";

/// The class of the library, with other code for each `name`.
fn library(name: &str) -> String {
    format!(
        "package lib; public class Lib {{
            public static int work(int n) {{ int m = n; for (int i = 0; i < 5000; i++) m = {name}(m + i); return m; }}
            static int {name}(int n) {{ return Integer.toString(n).hashCode(); }}
        }}"
    )
}

/// The newest JDK that can compile.
fn jdk() -> Option<PathBuf> {
    let newest = jdks()
        .into_iter()
        .rfind(|jdk| jdk.join("bin/javac").exists());
    if newest.is_none() {
        println!("skipped: no JDK has a compiler");
    }
    newest
}

fn ends_well(command: &mut Command) -> Output {
    let output = run(command);
    assert_eq!(output.code, Some(0), "{command:?}: {output:?}");
    output
}

/// Compiles sources into `out`: the file of each, and its text.
fn compile(jdk: &Path, out: &Path, sources: &[(&str, String)]) {
    let dir = tempfile::tempdir().unwrap();
    let mut javac = Command::new(jdk.join("bin/javac"));
    javac.arg("-d").arg(out);
    for (name, text) in sources {
        let file = dir.path().join(name);
        fs::write(&file, text).unwrap();
        javac.arg(file);
    }
    ends_well(&mut javac);
}

/// The bytes of the class files in a folder of one package.
fn of_folder(folder: &Path) -> HashMap<String, Vec<u8>> {
    let mut found = HashMap::new();
    for package in ["app", "lib"] {
        for entry in fs::read_dir(folder.join(package)).into_iter().flatten() {
            let file = entry.unwrap().path();
            let name = file.file_stem().unwrap().to_str().unwrap();
            found.insert(format!("{package}/{name}"), fs::read(&file).unwrap());
        }
    }
    found
}

fn jar(file: &Path, entries: &[(&str, &[u8])]) {
    let mut jar = zip::ZipWriter::new(File::create(file).unwrap());
    for (name, bytes) in entries {
        jar.start_file(*name, zip::write::SimpleFileOptions::default())
            .unwrap();
        jar.write_all(bytes).unwrap();
    }
    jar.finish().unwrap();
}

/// `edges` with these arguments, in another folder than that of the program.
fn edges(arguments: &[&Path]) -> Output {
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = stackwitness();
    run(command
        .arg("judge")
        .args(arguments)
        .current_dir(elsewhere.path()))
}

/// Nearly all edges are known, and possible.
#[track_caller]
fn is_known(output: &Output) {
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(!output.stderr.contains("no class file"), "{output:?}");
    let last = output.stdout.lines().last().unwrap_or_default();
    let numbers: Vec<u64> = last
        .split(", ")
        .filter_map(|part| part.rsplit_once(' ')?.1.parse().ok())
        .collect();
    let [stacks, edges, _, _, unknown] = numbers[..] else {
        panic!("{output:?}");
    };
    assert!(stacks > 0 && unknown * 50 <= edges, "{output:?}");
}

/// Runs the program with these arguments in `folder`, into the recording `file`, as a shell does.
fn record(jdk: &Path, folder: &Path, file: &Path, arguments: &[&str]) {
    let mut java = Command::new(jdk.join("bin/java"));
    java.arg(format!(
        "-XX:StartFlightRecording:filename={},settings=profile",
        file.display()
    ));
    java.args(arguments).current_dir(folder).env("PWD", folder);
    ends_well(&mut java);
}

#[test]
fn a_jar_that_names_others_is_found_where_the_program_ran() {
    let Some(jdk) = jdk() else { return };
    let dir = tempfile::tempdir().unwrap();
    let classes = dir.path().join("classes");
    let sources = [("Main.java", MAIN.into()), ("Lib.java", library("old"))];
    compile(&jdk, &classes, &sources);
    let of = of_folder(&classes);
    let folder = dir.path().join("a folder");
    fs::create_dir_all(folder.join("li b")).unwrap();
    let manifest = "Manifest-Version: 1.0\nMain-Class: app.Main\nClass-Path: li%20b/lib.jar\n";
    jar(
        &folder.join("app.jar"),
        &[
            ("META-INF/MANIFEST.MF", manifest.as_bytes()),
            ("app/Main.class", &of["app/Main"]),
        ],
    );
    jar(
        &folder.join("li b/lib.jar"),
        &[("lib/Lib.class", &of["lib/Lib"])],
    );
    let recording = dir.path().join("recording.jfr");
    record(&jdk, &folder, &recording, &["-jar", "app.jar"]);
    is_known(&edges(&[&recording]));

    // A program that started Java elsewhere than it stood: the recording is where Java ran.
    let beside = folder.join("recording.jfr");
    let mut java = Command::new(jdk.join("bin/java"));
    java.env_remove("PWD").current_dir(&folder);
    let file = "-XX:StartFlightRecording:filename=recording.jfr,settings=profile";
    ends_well(java.args([file, "-jar", "app.jar"]));
    is_known(&edges(&[&beside]));

    // Without the library its class is named, with the option that gives it.
    fs::remove_dir_all(folder.join("li b")).unwrap();
    let output = edges(&[&recording]);
    assert_eq!(output.code, Some(3), "{output:?}");
    let note = "no class file of lib.Lib: give them with --classpath or --module-path";
    assert!(output.stderr.contains(note), "{output:?}");
    assert!(
        output.stderr.contains("more than --max-unknown 0.2 allows"),
        "{output:?}"
    );
    let all = [Path::new("--max-unknown"), Path::new("1"), &recording];
    assert_eq!(edges(&all).code, Some(0));
}

#[test]
fn modules_are_found_where_the_program_ran() {
    let Some(jdk) = jdk() else { return };
    let dir = tempfile::tempdir().unwrap();
    let module =
        |name: &str, more: &str| ("module-info.java", format!("module {name} {{ {more} }}"));
    let library_of = dir.path().join("mods/lib");
    compile(
        &jdk,
        &library_of,
        &[module("lib", "exports lib;"), ("Lib.java", library("old"))],
    );
    let app = dir.path().join("mods/app");
    let sources = dir.path().join("sources");
    fs::create_dir(&sources).unwrap();
    fs::write(sources.join("Main.java"), MAIN).unwrap();
    fs::write(
        sources.join("module-info.java"),
        "module app { requires lib; }",
    )
    .unwrap();
    ends_well(
        Command::new(jdk.join("bin/javac"))
            .arg("-p")
            .arg(&library_of)
            .arg("-d")
            .arg(&app)
            .args(["Main.java", "module-info.java"].map(|name| sources.join(name))),
    );
    let recording = dir.path().join("recording.jfr");
    record(
        &jdk,
        dir.path(),
        &recording,
        &["-p", "mods", "-m", "app/app.Main"],
    );
    is_known(&edges(&[&recording]));

    // The user's own path takes the place of the recorded one.
    let moved = dir.path().join("moved");
    fs::rename(dir.path().join("mods"), &moved).unwrap();
    assert_eq!(edges(&[&recording]).code, Some(3));
    is_known(&edges(&[Path::new("--module-path"), &moved, &recording]));
}

#[test]
fn jars_in_jars_and_versions_for_later_releases_hold_classes() {
    let Some(jdk) = jdk() else { return };
    let dir = tempfile::tempdir().unwrap();
    let [old, new] = ["old", "new_"].map(|name| {
        let out = dir.path().join(name);
        compile(&jdk, &out, &[("Lib.java", library(name))]);
        of_folder(&out)
    });
    let stacks = dir.path().join("stacks.jsonl");
    fs::write(&stacks, calls(&new)).unwrap();
    let judge = |jar: &Path| {
        edges(&[
            Path::new("--jdk"),
            &jdk,
            Path::new("--classpath"),
            jar,
            &stacks,
        ])
    };
    let plain = dir.path().join("plain.jar");
    let entry = ("lib/Lib.class", &*old["lib/Lib"]);
    jar(&plain, &[entry]);
    let output = judge(&plain);
    assert!(matches!(output.code, Some(1 | 3)), "{output:?}");

    let versions = dir.path().join("versions.jar");
    let manifest = b"Manifest-Version: 1.0\nMulti-Release: true\n";
    let later = ("META-INF/versions/17/lib/Lib.class", &*new["lib/Lib"]);
    jar(
        &versions,
        &[("META-INF/MANIFEST.MF", manifest), entry, later],
    );
    is_known(&judge(&versions));

    let inner = dir.path().join("inner.jar");
    jar(&inner, &[("lib/Lib.class", &new["lib/Lib"])]);
    let outer = dir.path().join("outer.jar");
    let inner = fs::read(inner).unwrap();
    jar(&outer, &[("BOOT-INF/lib/inner.jar", &inner)]);
    is_known(&judge(&outer));
    jar(
        &outer,
        &[("BOOT-INF/classes/lib/Lib.class", &new["lib/Lib"])],
    );
    is_known(&judge(&outer));
}

#[test]
fn an_image_of_jlink_is_a_jdk() {
    let Some(jdk) = jdk() else { return };
    let dir = tempfile::tempdir().unwrap();
    let classes = dir.path().join("classes");
    compile(&jdk, &classes, &[("Lib.java", library("old"))]);
    // What the JDK's own classes call, and what they do not.
    let stacks = dir.path().join("stacks.jsonl");
    fs::write(&stacks, calls(&of_folder(&classes))).unwrap();
    let wrong = dir.path().join("wrong.jsonl");
    let frame = |class: &str, method: &str| serde_json::json!({"class": class, "method": method, "descriptor": "()V", "bci": 0});
    let frames = [
        frame("java.util.Random", "<init>"),
        frame("java.lang.Thread", "run"),
    ];
    let line = serde_json::json!({"start": "java", "frames": frames});
    fs::write(&wrong, line.to_string()).unwrap();
    let mut images = 0;
    // Compressed in the ways of jlink up to JDK 20, and since.
    for compress in ["--strip-debug", "--compress=2", "--compress=zip-6"] {
        let image = dir.path().join(compress);
        let mut jlink = Command::new(jdk.join("bin/jlink"));
        jlink.args(["--add-modules", "java.base", compress, "--output"]);
        if !jdk.join("bin/jlink").exists() || run(jlink.arg(&image)).code != Some(0) {
            println!(
                "skipped: {} cannot make an image with {compress}",
                jdk.display()
            );
            continue;
        }
        images += 1;
        let arguments = ["--jdk".as_ref(), &*image, "--classpath".as_ref(), &*classes];
        is_known(&edges(&[&arguments[..], &[&stacks]].concat()));
        let output = edges(&[&arguments[..], &[&wrong]].concat());
        assert_eq!(output.code, Some(1), "{compress}: {output:?}");
    }
    println!("{images} images");
}
