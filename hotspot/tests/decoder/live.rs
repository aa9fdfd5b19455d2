//! The code caches of running JVMs.

use super::compare::Comparison;
use super::{Found, bytes_at};
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use test_support::until;

/// How much code a JVM must have before it is looked at, in bytes.
const SOME: u64 = 4 << 20;
const MUCH: u64 = 40 << 20;

/// A JVM that compiles until it is ended.
struct Jvm(Child);

impl Drop for Jvm {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Jvm {
    /// A JVM in which the JDK's compiler compiles sources again and again; without a compiler, one that runs fixtures.
    fn start(home: &Path, jar: &Path, options: &[&str]) -> Jvm {
        let mut java = Command::new(home.join("bin/java"));
        java.args(options).arg("-cp").arg(jar);
        let program: &[_] = if home.join("bin/javac").exists() {
            &["stackwitness.fixtures.Javac", "--millis", "3600000"]
        } else {
            &["stackwitness.fixtures.Main", "default", "--millis", "60000"]
        };
        java.args(program)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        Jvm(java.spawn().expect("the JVM starts"))
    }

    /// The memory that can be written and run, where the VM has its code, and how many bytes of it were written.
    fn code(&self) -> (Vec<Range<u64>>, u64) {
        let maps = fs::read_to_string(format!("/proc/{}/smaps", self.0.id())).unwrap_or_default();
        let (mut ranges, mut written, mut is_code) = (vec![], 0, false);
        for line in maps.lines() {
            if let Some((range, access)) = range(line) {
                is_code = access == "rwxp";
                ranges.extend(Some(range).filter(|_| is_code));
            } else if let Some(rest) = line.strip_prefix("Rss:").filter(|_| is_code) {
                let kilobytes = rest
                    .trim()
                    .strip_suffix(" kB")
                    .and_then(|text| text.parse::<u64>().ok());
                written += kilobytes.expect("a number of kilobytes") << 10;
            }
        }
        (ranges, written)
    }

    /// Compares the instructions of all code.
    fn compare(&self) -> Found {
        let memory = File::open(format!("/proc/{}/mem", self.0.id())).expect("a child's memory");
        let (mut found, mut comparison) = (Found::default(), Comparison::new());
        for range in self.code().0 {
            let mut code = vec![0; (range.end - range.start) as usize];
            // What is not there cannot be read.
            if memory.read_exact_at(&mut code, range.start).is_ok() {
                found.merge(row(&mut comparison, &code));
            }
        }
        found
    }
}

/// The addresses and the access of a mapping, if `line` begins one.
fn range(line: &str) -> Option<(Range<u64>, &str)> {
    let mut words = line.split(' ');
    let (start, end) = words.next()?.split_once('-')?;
    let address = |text| u64::from_str_radix(text, 16).ok();
    Some((address(start)?..address(end)?, words.next()?))
}

/// Compares the instructions of `code` one after another. Between pieces of code lie headers, tables and what was never
/// written: there the two decoders must agree too, but what looks like padding does not count.
fn row(comparison: &mut Comparison, code: &[u8]) -> Found {
    const PADDING: [u8; 4] = [0x00, 0x90, 0xcc, 0xf4];
    let (mut found, mut at) = (Found::default(), 0);
    while at + 16 <= code.len() {
        let is_padding = PADDING.contains(&code[at]) && code[at] == code[at + 1];
        at += if is_padding {
            1
        } else {
            found.add(comparison, &bytes_at(code, at))
        };
    }
    found
}

/// Compares the code caches of one JVM of each release, each with `least` bytes of code.
fn each_release(options: &[&str], least: u64) -> Found {
    let dir = tempfile::tempdir().expect("a folder");
    let jar = java_fixtures::write_to(dir.path())
        .expect("fixtures")
        .fixtures_jar;
    let mut all = Found::default();
    for home in test_support::jdks() {
        let name = test_support::feature(&home).map_or(String::new(), |it| it.to_string());
        let jvm = Jvm::start(&home, &jar, options);
        until(&format!("code of JDK {name}"), || {
            (jvm.code().1 >= least).then_some(())
        });
        let found = jvm.compare();
        println!(
            "JDK {name}: {} instructions are the same, {} are refused",
            found.same, found.refused
        );
        all.merge(found);
    }
    all
}

#[test]
fn code_caches_of_running_jvms_are_decoded_as_iced_decodes_them() {
    let found = each_release(&[], SOME);
    found.check("code caches");
}

/// Run by `cargo test -p hotspot --test decoder -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes"]
fn large_code_caches_are_decoded_as_iced_decodes_them() {
    let options = ["-Xcomp", "-XX:ReservedCodeCacheSize=240m"];
    let found = each_release(&options, MUCH);
    found.check("large code caches");
    assert!(found.same > 10_000_000, "{} instructions", found.same);
}
