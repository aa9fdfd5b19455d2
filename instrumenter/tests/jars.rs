//! Classes of real programs, of versions and compilers that no JDK has: written back identical,
//! hooked, read by other readers, accepted by `ClassFile.verify` and by the verifier of every JDK.
//!
//! ```sh
//! apt-get install ecj jython libh2-java libxalan2-java libfop-java
//! pip download --no-deps --no-binary :all: pyspark   # and unpack it
//! STACKWITNESS_JARS=pyspark-3.5.3/deps/jars cargo test --release -p instrumenter --test jars -- --ignored --nocapture
//! ```
//! `STACKWITNESS_JARS` names jars and folders of jars, separated by colons.

mod support;

use classfile_testing::folder::classes;
use classfile_testing::jdk::{Jdk, run};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use support::corpus::{compile_owner, java, rewrite_all, verify};

const MINUTES: u64 = 30;

/// The jars of Debian's packages, and each package.
const DEBIAN: [(&str, &str); 9] = [
    ("ecj.jar", "ecj"),
    ("jython.jar", "jython"),
    ("h2.jar", "libh2-java"),
    ("xalan2.jar", "libxalan2-java"),
    ("fop-core.jar", "libfop-java"),
    ("fop-events.jar", "libfop-java"),
    ("fop-sandbox.jar", "libfop-java"),
    ("fop-transcoder.jar", "libfop-java"),
    ("fop-util.jar", "libfop-java"),
];

fn debian() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for (jar, package) in DEBIAN {
        let path = Path::new("/usr/share/java").join(jar);
        if path.exists() {
            found.push(path);
        } else {
            println!("skipped: {jar} is not there: apt-get install {package}");
        }
    }
    found
}

fn named() -> Vec<PathBuf> {
    let Some(places) = std::env::var_os("STACKWITNESS_JARS") else {
        println!("skipped: STACKWITNESS_JARS names no more jars");
        return Vec::new();
    };
    let mut found = Vec::new();
    for place in std::env::split_paths(&places) {
        if place.is_dir() {
            let files = fs::read_dir(&place).expect("a folder").flatten();
            found.extend(files.map(|e| e.path()));
        } else {
            found.push(place);
        }
    }
    found.retain(|path| path.extension().is_some_and(|e| e == "jar"));
    assert!(!found.is_empty(), "STACKWITNESS_JARS holds no jar");
    found.sort();
    found
}

/// Unpacks the classes of each jar into a folder below `to`.
fn unpack(jars: &[PathBuf], to: &Path) {
    for path in jars {
        let folder = to.join(path.file_stem().expect("a name"));
        let mut jar = zip::ZipArchive::new(fs::File::open(path).expect("a file"))
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for i in 0..jar.len() {
            let mut entry = jar.by_index(i).expect("an entry");
            let Some(name) = entry.enclosed_name().filter(|_| entry.is_file()) else {
                continue;
            };
            if name.extension().is_some_and(|e| e == "class") {
                let file = folder.join(name);
                fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
                let mut file = fs::File::create(file).expect("a file");
                io::copy(&mut entry, &mut file).expect("an entry");
            }
        }
    }
}

/// The names of the classes that a class loader would find, one on each line.
fn names(from: &Path) -> String {
    let mut names = Vec::new();
    for jar in fs::read_dir(from).expect("jars").flatten() {
        for class in classes(&jar.path()) {
            let name = class.strip_prefix(jar.path()).expect("below");
            let name = name.with_extension("").display().to_string();
            if !name.starts_with("META-INF/") && !name.ends_with("-info") {
                names.push(name.replace('/', "."));
            }
        }
    }
    names.sort();
    names.dedup();
    names.join("\n")
}

#[test]
#[ignore = "takes minutes"]
fn classes_of_real_programs() {
    let jars = [debian(), named()].concat();
    let all = Jdk::all();
    if jars.is_empty() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    unpack(&jars, &at("plain"));
    let label = format!("{} jars", jars.len());
    rewrite_all(&label, &at("plain"), &at("hooked"), 20);
    verify(&label, &at("plain"), &at("hooked"), MINUTES);

    fs::write(at("names"), names(&at("plain"))).expect("a file");
    for jdk in &all {
        jdk.javac(&[], &at("tools"), &[&java().join("LinkAll.java")]);
        compile_owner(jdk, &at("owner"));
        let link = |which: &str| {
            let mut path = vec![at("tools")];
            let jars = fs::read_dir(at(which)).expect("jars").flatten();
            path.extend(jars.map(|e| e.path()));
            path[1..].sort();
            let mut c = jdk.tool("java");
            c.args(["-Xverify:all", "-XX:-UsePerfData", "-Xmx3g", "-Xss4m"])
                .arg("--patch-module")
                .arg(format!("java.base={}", at("owner").display()))
                .arg("-cp")
                .arg(std::env::join_paths(path).expect("a class path"))
                .arg("LinkAll")
                .arg(at("names"))
                .arg("app");
            run(&mut c, MINUTES).ok()
        };
        let (plain, hooked) = (link("plain"), link("hooked"));
        let totals = hooked.lines().last().unwrap_or_default();
        println!("{label}, JDK {} by -Xverify:all: {totals}", jdk.feature);
        let differs = plain.lines().zip(hooked.lines()).find(|(a, b)| a != b);
        assert!(plain == hooked, "{differs:?}");
    }
}
