//! Broken classes and jars.

use crate::breaking::each;
use crate::command::answer;
use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;

/// A class and the jar of the fixtures, reduced to what a test needs.
fn jar() -> Vec<u8> {
    let mut all = zip::ZipArchive::new(Cursor::new(java_fixtures::FIXTURES_JAR)).unwrap();
    let mut small = zip::ZipWriter::new(Cursor::new(vec![]));
    for name in [
        "META-INF/MANIFEST.MF",
        CLASS,
        "stackwitness/fixtures/Rng.class",
    ] {
        small.raw_copy_file(all.by_name(name).unwrap()).unwrap();
    }
    small.finish().unwrap().into_inner()
}

const CLASS: &str = "stackwitness/fixtures/Lambdas.class";

fn class() -> Vec<u8> {
    let mut all = zip::ZipArchive::new(Cursor::new(java_fixtures::FIXTURES_JAR)).unwrap();
    let mut bytes = vec![];
    all.by_name(CLASS).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn rewrite_a_class() {
    let folder = tempfile::tempdir().unwrap();
    each(&class(), |bytes| {
        fs::write(folder.path().join("In.class"), bytes).unwrap();
        let output = answer(
            folder.path(),
            &["dev", "rewrite", "-q", "In.class", "Out.class"],
            bytes,
        );
        let written = fs::read(folder.path().join("Out.class"));
        if output.code == Some(0) {
            whole(&written.expect("a class"));
        }
        let _ = fs::remove_file(folder.path().join("Out.class"));
    });
}

/// A class that was rewritten without a complaint can be read, and is written back with the same
/// bytes.
fn whole(bytes: &[u8]) {
    let same = classfile::identity(bytes).expect("a class file");
    assert!(same == bytes);
}

#[test]
fn rewrite_a_jar() {
    let folder = tempfile::tempdir().unwrap();
    each(&jar(), |bytes| {
        fs::write(folder.path().join("in.jar"), bytes).unwrap();
        let output = answer(
            folder.path(),
            &["dev", "rewrite", "-q", "in.jar", "out.jar"],
            bytes,
        );
        if output.code == Some(0) {
            same_entries(bytes, folder.path());
        } else if output.code == Some(3) {
            assert!(
                !folder.path().join("out.jar").exists(),
                "half a jar: {output:#?}"
            );
        }
        let _ = fs::remove_file(folder.path().join("out.jar"));
    });
}

/// The new jar has all entries of the old jar, as another reader finds them, and each entry can be
/// read.
fn same_entries(old: &[u8], folder: &Path) {
    let new = fs::read(folder.join("out.jar")).expect("a jar");
    let mut old = zip::ZipArchive::new(Cursor::new(old)).expect("what is no jar is refused");
    let mut new = zip::ZipArchive::new(Cursor::new(new)).expect("a jar");
    assert_eq!(old.len(), new.len());
    for at in 0..new.len() {
        let mut content = vec![];
        new.by_index(at)
            .unwrap()
            .read_to_end(&mut content)
            .expect("a whole entry");
        let mut before = vec![];
        old.by_index(at)
            .unwrap()
            .read_to_end(&mut before)
            .expect("a whole entry");
    }
}
