//! `stackwitness dev rewrite` on a class, a folder and a jar.

use crate::support::{Place, limited, run};
use std::fs;
use std::io::{Cursor, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

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

/// Runs `stackwitness dev rewrite`, which must end with this exit code. Returns what it printed.
fn rewrite(place: &Place, words: &str, code: i32) -> String {
    let output = place.run(&format!("dev rewrite {words}")).ended(code);
    output.stdout + &output.stderr
}

/// A jar with these entries.
fn jar(place: &Place, name: &str, entries: &[(&str, &[u8])]) {
    let mut jar = ZipWriter::new(fs::File::create(place.path(name)).expect("a file"));
    for (name, bytes) in entries {
        let options = SimpleFileOptions::default();
        jar.start_file(*name, options).expect("an entry");
        jar.write_all(bytes).expect("an entry");
    }
    jar.finish().expect("a jar");
}

/// The bytes of a file.
fn bytes(place: &Place, name: &str) -> Vec<u8> {
    fs::read(place.path(name)).expect("a file")
}

/// The bytes of an entry of a jar.
fn entry(place: &Place, jar: &str, name: &str) -> Vec<u8> {
    let mut jar = ZipArchive::new(Cursor::new(bytes(place, jar))).expect("a jar");
    let mut bytes = Vec::new();
    let mut entry = jar.by_name(name).expect("an entry");
    entry.read_to_end(&mut bytes).expect("an entry");
    bytes
}

#[test]
fn a_class_is_hooked() {
    let place = Place::new();
    place.write("T.class", class());
    let said = rewrite(&place, "T.class New.class", 0);
    assert!(said.contains("hooked    T.m()V"), "{said}");
    let counts = "methods hooked: 1, not chosen: 0, left: 0";
    assert!(said.contains(counts), "{said}");
    let owner = b"java/lang/StackwitnessTrace";
    let new = bytes(&place, "New.class");
    assert!(new.windows(owner.len()).any(|w| w == owner));
}

#[test]
fn identity_and_excluded_classes_stay_as_they_are() {
    let place = Place::new();
    fs::create_dir_all(place.path("in/p")).expect("a folder");
    place.write("in/p/T.class", class());
    place.write("in/note.txt", "note");
    for options in ["--identity", "--exclude T.m", "--include U*"] {
        rewrite(&place, &format!("{options} in out"), 0);
        assert_eq!(bytes(&place, "out/p/T.class"), class());
        assert_eq!(bytes(&place, "out/note.txt"), b"note");
    }
}

#[test]
fn a_jar_keeps_its_entries() {
    let place = Place::new();
    let entries: [(_, &[u8]); 3] = [
        ("META-INF/MANIFEST.MF", b"x"),
        ("T.class", &class()),
        ("B.class", b"no"),
    ];
    jar(&place, "a.jar", &entries);
    // B.class is no class.
    let said = rewrite(&place, "a.jar b.jar", 1);
    let expected = "malformed B.class: malformed class file at byte 0";
    assert!(said.contains(expected), "{said}");
    assert_eq!(entry(&place, "b.jar", "META-INF/MANIFEST.MF"), b"x");
    assert_eq!(entry(&place, "b.jar", "B.class"), b"no");
    assert!(entry(&place, "b.jar", "T.class").len() > class().len());
}

#[test]
fn bad_usage_is_2() {
    let place = Place::new();
    place.write("T.class", class());
    place.write("note.txt", "note");
    for words in [
        "T.class T.class",
        "nowhere out",
        "note.txt out",
        "--identity --include T T.class out",
        "--probability 2 T.class out",
    ] {
        rewrite(&place, words, 2);
    }
    assert_eq!(bytes(&place, "T.class"), class());
}

#[test]
fn a_jar_that_cannot_be_rewritten_whole_leaves_nothing() {
    let place = Place::new();
    let noise: Vec<u8> = (0..5000u32)
        .flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    let entries: [(_, &[u8]); 2] = [("T.class", &class()), ("B.class", &noise)];
    jar(&place, "a.jar", &entries);
    let mut whole = bytes(&place, "a.jar");
    // A byte in the middle of the second entry is changed, so that the checksum is wrong.
    let middle = whole.len() / 2;
    whole[middle..middle + 64].fill(0);
    place.write("a.jar", whole);
    place.write("b.jar", "the old one");
    rewrite(&place, "a.jar b.jar", 3);
    assert_eq!(bytes(&place, "b.jar"), b"the old one");
    let left = fs::read_dir(place.path("")).expect("a folder").count();
    assert_eq!(left, 2, "no part is left behind");
}

/// With a quarter of the memory that the entry takes.
#[test]
fn a_large_entry_is_not_read_into_memory() {
    const SIZE: usize = 256 << 20;
    let place = Place::new();
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut jar = ZipWriter::new(fs::File::create(place.path("a.jar")).expect("a file"));
    jar.start_file("T.class", options).expect("an entry");
    jar.write_all(&class()).expect("an entry");
    jar.start_file("large", options).expect("an entry");
    let part = vec![7; 1 << 20];
    for _ in 0..SIZE / part.len() {
        jar.write_all(&part).expect("an entry");
    }
    jar.finish().expect("a jar");
    // The limit is that of writable memory, in KB.
    let limit = format!("ulimit -d {}", SIZE >> 12);
    run(&mut limited(
        &place.command("dev rewrite a.jar b.jar"),
        &limit,
    ))
    .ended(0);
    let new = fs::File::open(place.path("b.jar")).expect("a jar");
    let mut new = ZipArchive::new(new).expect("a jar");
    assert_eq!(new.by_name("large").expect("the entry").size(), SIZE as u64);
}

#[test]
fn links_among_folders_have_an_end() {
    let place = Place::new();
    fs::create_dir_all(place.path("in/p/q")).expect("a folder");
    place.write("in/p/T.class", class());
    for (target, link) in [
        ("..", "in/p/q/up"),
        ("p", "in/alias"),
        ("nowhere", "in/dangling"),
    ] {
        symlink(target, place.path(link)).expect("a link");
    }
    let said = rewrite(&place, "in out", 1);
    for expected in [
        "left out  in/p/q/up: a link to a folder that was read already",
        "left out  in/alias: a link to a folder that was read already",
        "left out  in/dangling: a link to nowhere",
        "left out: 3",
    ] {
        assert!(said.contains(expected), "{said}");
    }
    assert!(place.path("out/p/T.class").exists());
}

#[test]
fn entries_of_the_same_name_are_reported() {
    let place = Place::new();
    let entries: [(_, &[u8]); 2] = [("T.class", &class()), ("U.class", &class())];
    jar(&place, "a.jar", &entries);
    // The library that writes jars refuses two entries with one name, so the name is changed
    // afterwards.
    let mut renamed = bytes(&place, "a.jar");
    for i in 0..renamed.len() - 7 {
        if &renamed[i..i + 7] == b"U.class" {
            renamed[i] = b'T';
        }
    }
    place.write("a.jar", renamed);
    let said = rewrite(&place, "a.jar b.jar", 1);
    let expected = "left out  T.class: a later entry has the same name";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn a_jar_that_starts_itself_still_does() {
    let place = Place::new();
    let entries: [(_, &[u8]); 2] = [("T.class", &class()), ("note.txt", b"note")];
    jar(&place, "plain.jar", &entries);
    let script = b"#!/bin/sh\nexec java -jar $0\n";
    place.write("a.jar", [&script[..], &bytes(&place, "plain.jar")].concat());
    fs::set_permissions(place.path("a.jar"), fs::Permissions::from_mode(0o755)).expect("a mode");
    rewrite(&place, "a.jar b.jar", 0);
    assert!(bytes(&place, "b.jar").starts_with(script));
    let mode = fs::metadata(place.path("b.jar")).expect("a file");
    assert_eq!(
        mode.permissions().mode() & 0o111,
        0o111,
        "it can be started"
    );
    assert_eq!(entry(&place, "b.jar", "note.txt"), b"note");
    assert!(entry(&place, "b.jar", "T.class").len() > class().len());
}
