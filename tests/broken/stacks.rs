//! Broken stacks in all formats, recordings and archives, and broken class files by which stacks are
//! judged.

use crate::breaking::{Random, TIMES, broken};
use crate::command::answer;
use crate::support::{Output, Place, jdks, record_fixtures};
use ristretto_jimage::Image;
use std::fs::{self, File};
use std::io::{Cursor, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

const LINES: &[u8] = br#"{"thread":"main","start":"launcher","frames":[{"class":"stackwitness.fixtures.Rng","method":"next","descriptor":"()J","bci":0},{"class":"stackwitness.fixtures.Main","method":"main","descriptor":"([Ljava/lang/String;)V","bci":5}]}
{"frames":[{"class":"java.lang.Thread","method":"run","descriptor":"()V","bci":5}]}
"#;
const COLLAPSED: &[u8] = b"java/lang/Thread.run;java/util/ArrayList.add 5\nstart_thread;java/lang/Thread.run_[j];read_[k] 3\n";
const DUMP: &[u8] = b"Full thread dump\n\n\"main\" #1 prio=5\n\tat java.util.ArrayList.add(ArrayList.java:7)\n\tat java.lang.Thread.run(Thread.java:9)\n\n";
/// A call that the class files of the fixtures allow.
const CALLS: &[u8] =
    b"stackwitness.fixtures.MutualRecursion.green;stackwitness.fixtures.MutualRecursion.blue 3\n";
/// A profile with one sample of `a.B.m`.
const PPROF: &[u8] = &[
    0x0a, 4, 8, 1, 16, 1, 0x12, 6, 0x0a, 1, 1, 0x12, 1, 5, 0x22, 8, 8, 1, 0x22, 4, 8, 1, 16, 7,
    0x2a, 4, 8, 1, 16, 1, 0x32, 0, 0x32, 5, b'a', b'.', b'B', b'.', b'm',
];

fn archive() -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(vec![]));
    let options = zip::write::SimpleFileOptions::default();
    for (name, bytes) in [("a.jsonl", LINES), ("b.txt", COLLAPSED), ("c.txt", DUMP)] {
        archive.start_file(name, options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// The numbers of the last line: stacks, edges, possible, impossible, unknown.
fn numbers(output: &Output) -> [u64; 5] {
    let last = output.stdout.lines().last().unwrap_or_default();
    let numbers = last
        .split(", ")
        .filter_map(|part| part.rsplit_once(' ')?.1.parse().ok());
    let numbers: Vec<u64> = numbers.collect();
    numbers.try_into().unwrap_or_else(|_| panic!("{output:#?}"))
}

/// The promise of the answer yes: there were stacks, the numbers add up, and no edge is impossible.
fn judge(place: &Place, classpath: &str, bytes: &[u8]) -> Output {
    let words = format!("judge --jdk jdk --classpath {classpath} --max-unknown 1 stacks");
    let output = answer(place, &words, bytes);
    if output.code == Some(0) {
        let [stacks, edges, possible, impossible, unknown] = numbers(&output);
        assert!(stacks > 0 && impossible == 0, "{output:#?}");
        assert_eq!(edges, possible + impossible + unknown, "{output:#?}");
    }
    output
}

/// A folder with a small JDK, of a part of the classes of a JDK that is found: `edges` may read all classes. `None` if there
/// is no JDK.
fn with_small_jdk() -> Option<Place> {
    const PACKAGES: [&str; 5] = [
        "java/lang",
        "java/lang/invoke",
        "java/util",
        "jdk/internal/misc",
        "jdk/internal/reflect",
    ];
    let home = jdks().into_iter().next()?;
    let place = Place::new();
    let classes = place.path("jdk/modules/java.base");
    for package in PACKAGES {
        fs::create_dir_all(classes.join(package)).unwrap();
    }
    let image = Image::from_file(&home.join("lib/modules")).unwrap();
    for resource in &image {
        let resource = resource.unwrap();
        if resource.module() == "java.base" && PACKAGES.contains(&resource.parent()) {
            let package = classes.join(resource.parent());
            let file = format!("{}.{}", resource.base(), resource.extension());
            fs::write(package.join(file), resource.data()).unwrap();
        }
    }
    copy(&home, &place, &["release", "bin/java"]);
    Some(place)
}

/// Copies files of a JDK.
fn copy(home: &Path, place: &Place, files: &[&str]) {
    for file in files {
        let copy = place.path("jdk").join(file);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(home.join(file), copy).unwrap();
    }
}

/// All formats of stacks: each gets an equal share of the broken inputs.
const FORMATS: u64 = 5;

#[test]
fn stacks_as_lines() {
    formats(&[LINES, COLLAPSED, DUMP]);
}

#[test]
fn stacks_in_files_that_are_packed() {
    formats(&[PPROF, &archive()]);
}

fn formats(formats: &[&[u8]]) {
    let Some(place) = with_small_jdk() else {
        return;
    };
    place.write("fixtures.jar", java_fixtures::FIXTURES_JAR);
    for whole in formats {
        place.write("stacks", whole);
        let output = judge(&place, "fixtures.jar", whole);
        assert!(matches!(output.code, Some(0 | 1 | 3)), "{output:#?}");
        for seed in 0..TIMES / FORMATS {
            let bytes = broken(whole, &mut Random(seed));
            place.write("stacks", &bytes);
            judge(&place, "fixtures.jar", &bytes);
        }
    }
}

/// A recording of the JDK of [`small_jdk`].
#[test]
fn recordings() {
    let Some(place) = with_small_jdk() else {
        return;
    };
    let file = place.path("stacks");
    let home = jdks().into_iter().next().unwrap();
    let jar = record_fixtures(&home, &file, "", &[], &["tree-maps", "--millis", "500"]);
    let whole = fs::read(&file).unwrap();
    let classpath = jar.display().to_string();
    // JFR's own stacks may be false (docs/findings.md), which is exit code 1.
    let output = judge(&place, &classpath, &[]);
    assert!(matches!(output.code, Some(0 | 1)), "{output:#?}");
    assert!(output.stdout.contains("possible: invoke"), "{output:#?}");
    for seed in 0..TIMES {
        fs::write(&file, broken(&whole, &mut Random(seed))).unwrap();
        judge(&place, &classpath, &[]);
    }
}

/// The image of a JDK, with some bytes of its tables changed.
#[test]
fn images() {
    /// The tables are at the start of an image, before the classes.
    const TABLES: usize = 4 << 20;
    let Some(home) = jdks().into_iter().next() else {
        return;
    };
    let place = Place::new();
    copy(&home, &place, &["release", "bin/java", "lib/modules"]);
    place.write("fixtures.jar", java_fixtures::FIXTURES_JAR);
    place.write("stacks", CALLS);
    judge(&place, "fixtures.jar", &[]).ended(0);
    let mut options = File::options();
    let image = place.path("jdk/lib/modules");
    let image = options.read(true).write(true).open(image).unwrap();
    for seed in 0..TIMES {
        let mut random = Random(seed);
        // Half of the changes are to the header.
        let limit = [64, TABLES][random.below(2)];
        let changes = (0..4).map(|_| (random.below(limit) as u64, random.below(256) as u8));
        let changes: Vec<(u64, u8)> = changes.collect();
        let mut before = vec![];
        for &(at, byte) in &changes {
            let mut old = [0];
            image.read_exact_at(&mut old, at).unwrap();
            image.write_all_at(&[byte], at).unwrap();
            before.push((at, old));
        }
        let output = judge(&place, "fixtures.jar", &[]);
        assert!(output.code != Some(1), "{changes:?} {output:#?}");
        for (at, old) in before.into_iter().rev() {
            image.write_all_at(&old, at).unwrap();
        }
    }
}

/// Broken class files never make an edge impossible that the unbroken class files allow.
#[test]
fn class_paths() {
    let Some(place) = with_small_jdk() else {
        return;
    };
    place.write("stacks", CALLS);
    for seed in 0..TIMES {
        let bytes = &broken(java_fixtures::FIXTURES_JAR, &mut Random(seed));
        place.write("broken.jar", bytes);
        let output = judge(&place, "broken.jar", bytes);
        assert!(output.code != Some(1), "{output:#?}");
    }
}
