//! `stackwitness dev rewrite` on a class, a folder and a jar.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output};

/// A class `T` with one method `m()V`.
fn class() -> Vec<u8> {
    let mut file = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 49, 0, 8];
    for text in ["T", "java/lang/Object", "m", "()V", "Code"] {
        file.extend([1, 0, text.len() as u8]);
        file.extend(text.bytes());
    }
    file.extend([7, 0, 1, 7, 0, 2]);
    file.extend([0, 1, 0, 6, 0, 7, 0, 0, 0, 0, 0, 1]);
    file.extend([0, 8, 0, 3, 0, 4, 0, 1, 0, 5, 0, 0, 0, 13]);
    file.extend([0, 0, 0, 0, 0, 0, 0, 1, 177, 0, 0, 0, 0]);
    file.extend([0, 0]);
    file
}

fn rewrite(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stackwitness"))
        .args(["dev", "rewrite"])
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the command runs")
}

fn text(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b));
    format!("{out}{err}")
}

#[test]
fn a_class_is_hooked() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("T.class"), class()).expect("a file");
    let output = rewrite(folder.path(), &["T.class", "New.class"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output).contains("hooked    T.m()V"));
    assert!(text(&output).contains("methods hooked: 1, not chosen: 0, left: 0"));
    let new = fs::read(folder.path().join("New.class")).expect("it is written");
    let owner = b"java/lang/StackwitnessTrace";
    assert!(new.windows(owner.len()).any(|w| w == owner));
}

#[test]
fn identity_and_excluded_classes_stay_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("in/p")).expect("a folder");
    fs::write(at("in/p/T.class"), class()).expect("a file");
    fs::write(at("in/note.txt"), "note").expect("a file");
    for args in [
        &["--identity"][..],
        &["--exclude", "T.m"],
        &["--include", "U*"],
    ] {
        let output = rewrite(folder.path(), &[args, &["in", "out"]].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(fs::read(at("out/p/T.class")).expect("written"), class());
        assert_eq!(fs::read(at("out/note.txt")).expect("copied"), b"note");
    }
}

#[test]
fn a_jar_keeps_its_entries() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let mut jar = zip::ZipWriter::new(fs::File::create(at("a.jar")).expect("a file"));
    let options = zip::write::SimpleFileOptions::default();
    for (name, bytes) in [
        ("META-INF/MANIFEST.MF", b"x".to_vec()),
        ("T.class", class()),
        ("B.class", b"no".to_vec()),
    ] {
        jar.start_file(name, options).expect("an entry");
        jar.write_all(&bytes).expect("an entry");
    }
    jar.finish().expect("a jar");
    let output = rewrite(folder.path(), &["a.jar", "b.jar"]);
    // B.class is no class.
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output).contains("malformed B.class: malformed class file at byte 0"));
    let mut jar =
        zip::ZipArchive::new(fs::File::open(at("b.jar")).expect("a file")).expect("a jar");
    let mut read = |name: &str| {
        let mut bytes = Vec::new();
        jar.by_name(name)
            .expect("an entry")
            .read_to_end(&mut bytes)
            .expect("an entry");
        bytes
    };
    assert_eq!(read("META-INF/MANIFEST.MF"), b"x");
    assert_eq!(read("B.class"), b"no");
    assert!(read("T.class").len() > class().len());
}

#[test]
fn bad_usage_is_2() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("T.class"), class()).expect("a file");
    fs::write(at("note.txt"), "note").expect("a file");
    for args in [
        &["T.class", "T.class"][..],
        &["nowhere", "out"],
        &["note.txt", "out"],
        &["--identity", "--include", "T", "T.class", "out"],
        &["--probability", "2", "T.class", "out"],
    ] {
        assert_eq!(
            rewrite(folder.path(), args).status.code(),
            Some(2),
            "{args:?}"
        );
    }
    assert_eq!(fs::read(at("T.class")).expect("there"), class());
}

/// A jar with these entries.
fn jar(path: &Path, entries: &[(&str, Vec<u8>)]) {
    let mut jar = zip::ZipWriter::new(fs::File::create(path).expect("a file"));
    let options = zip::write::SimpleFileOptions::default();
    for (name, bytes) in entries {
        jar.start_file(*name, options).expect("an entry");
        jar.write_all(bytes).expect("an entry");
    }
    jar.finish().expect("a jar");
}

#[test]
fn a_jar_that_cannot_be_rewritten_whole_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let noise: Vec<u8> = (0..5000u32)
        .flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    jar(&at("a.jar"), &[("T.class", class()), ("B.class", noise)]);
    let mut bytes = fs::read(at("a.jar")).expect("a jar");
    // A byte in the middle of the second entry is changed, so that the checksum is wrong.
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].fill(0);
    fs::write(at("a.jar"), bytes).expect("a file");
    fs::write(at("b.jar"), "the old one").expect("a file");
    let output = rewrite(folder.path(), &["a.jar", "b.jar"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(fs::read(at("b.jar")).expect("there"), b"the old one");
    let left = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 2, "no part is left behind");
}

/// With a quarter of the memory that the entry takes.
#[test]
fn a_large_entry_is_not_read_into_memory() {
    const SIZE: usize = 256 << 20;
    let folder = tempfile::tempdir().expect("a folder");
    let options = zip::write::SimpleFileOptions::default();
    let options = options.compression_method(zip::CompressionMethod::Stored);
    let file = fs::File::create(folder.path().join("a.jar")).expect("a file");
    let mut jar = zip::ZipWriter::new(file);
    jar.start_file("T.class", options).expect("an entry");
    jar.write_all(&class()).expect("an entry");
    jar.start_file("large", options).expect("an entry");
    let part = vec![7; 1 << 20];
    for _ in 0..SIZE / part.len() {
        jar.write_all(&part).expect("an entry");
    }
    jar.finish().expect("a jar");
    // The limit is that of writable memory, in KB.
    let limit = format!("ulimit -d {}; exec \"$0\" rewrite a.jar b.jar", SIZE >> 12);
    let mut shell = Command::new("sh");
    shell.args(["-c", &limit, env!("CARGO_BIN_EXE_stackwitness")]);
    let output = crate::support::run(shell.current_dir(folder.path()));
    assert_eq!(output.code, Some(0), "{output:#?}");
    let new = fs::File::open(folder.path().join("b.jar")).expect("a jar");
    let mut new = zip::ZipArchive::new(new).expect("a jar");
    assert_eq!(new.by_name("large").expect("the entry").size(), SIZE as u64);
}

#[test]
fn links_among_folders_have_an_end() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("in/p/q")).expect("a folder");
    fs::write(at("in/p/T.class"), class()).expect("a file");
    symlink("..", at("in/p/q/up")).expect("a link");
    symlink("p", at("in/alias")).expect("a link");
    symlink("nowhere", at("in/dangling")).expect("a link");
    let output = rewrite(folder.path(), &["in", "out"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = text(&output);
    for expected in [
        "left out  in/p/q/up: a link to a folder that was read already",
        "left out  in/alias: a link to a folder that was read already",
        "left out  in/dangling: a link to nowhere",
        "left out: 3",
    ] {
        assert!(said.contains(expected), "{said}");
    }
    assert!(at("out/p/T.class").exists());
}

#[test]
fn entries_of_the_same_name_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    jar(&at("a.jar"), &[("T.class", class()), ("U.class", class())]);
    let bytes = fs::read(at("a.jar")).expect("a jar");
    // The library that writes jars refuses two entries with one name, so the name is changed
    // afterwards.
    let mut renamed = bytes;
    for i in 0..renamed.len() - 7 {
        if &renamed[i..i + 7] == b"U.class" {
            renamed[i] = b'T';
        }
    }
    fs::write(at("a.jar"), renamed).expect("a file");
    let output = rewrite(folder.path(), &["a.jar", "b.jar"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = text(&output);
    assert!(
        said.contains("left out  T.class: a later entry has the same name"),
        "{said}"
    );
}

#[test]
fn a_jar_that_starts_itself_still_does() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    jar(
        &at("plain.jar"),
        &[("T.class", class()), ("note.txt", b"note".to_vec())],
    );
    let script = b"#!/bin/sh\nexec java -jar $0\n";
    let whole = [&script[..], &fs::read(at("plain.jar")).expect("a jar")].concat();
    fs::write(at("a.jar"), whole).expect("a file");
    fs::set_permissions(at("a.jar"), fs::Permissions::from_mode(0o755)).expect("a mode");
    let output = rewrite(folder.path(), &["a.jar", "b.jar"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let new = fs::read(at("b.jar")).expect("a file");
    assert!(new.starts_with(script));
    let mode = fs::metadata(at("b.jar"))
        .expect("a file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o111, 0o111, "it can be started");
    let mut jar = zip::ZipArchive::new(std::io::Cursor::new(new)).expect("a jar");
    let mut note = String::new();
    jar.by_name("note.txt")
        .expect("an entry")
        .read_to_string(&mut note)
        .expect("text");
    assert_eq!(note, "note");
    assert!(jar.by_name("T.class").expect("an entry").size() > class().len() as u64);
}
