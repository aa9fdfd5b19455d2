//! Broken classes and jars.

use crate::command::{each_accepted, each_answer};
use crate::support::Place;
use std::fs;
use std::io::{Cursor, Read};

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
    let place = Place::new();
    let words = "dev rewrite -q In.class Out.class";
    each_accepted(&place, words, ("In.class", &class()), |_, _| {
        whole(&fs::read(place.path("Out.class")).expect("a class"));
        fs::remove_file(place.path("Out.class")).unwrap();
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
    let place = Place::new();
    let new = place.path("out.jar");
    let words = "dev rewrite -q in.jar out.jar";
    each_answer(&place, words, ("in.jar", &jar()), |output, bytes| {
        match output.code {
            Some(0) => same_entries(bytes, &fs::read(&new).expect("a jar")),
            Some(3) => assert!(!new.exists(), "half a jar: {output:#?}"),
            _ => {}
        }
        let _ = fs::remove_file(&new);
    });
}

/// The new jar has all entries of the old jar, as another reader finds them, and each entry can be
/// read.
fn same_entries(old: &[u8], new: &[u8]) {
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
