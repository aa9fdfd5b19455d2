//! A long run: threads and classes come and go while each thread is sampled through a queue of its own.
//!
//! ```text
//! SOAK_SECONDS=7200 cargo test --release -p walker --test soak -- --ignored --nocapture
//! ```
//!
//! It runs on the newest JDK that is found, prints the memory and the open files of the JVM every half minute, and fails if a
//! sample is lost, or if files or memory grow.

#[path = "../support/agent.rs"]
mod built;

use built::build;
use classfile_testing::jdk::Jdk;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What a JVM uses at an instant.
struct Use {
    /// Resident memory, in kB.
    resident: u64,
    /// Open files.
    files: usize,
}

#[test]
#[ignore = "takes as long as SOAK_SECONDS says, two hours if it is not set"]
fn nothing_is_lost_and_nothing_grows() {
    let seconds =
        std::env::var("SOAK_SECONDS").map_or(7_200, |text| text.parse().expect("seconds"));
    let jdk = Jdk::all().into_iter().max_by_key(|jdk| jdk.feature);
    let jdk = jdk.expect("a JDK");
    let dir = tempfile::tempdir().expect("a folder");
    let agent = build(&jdk, dir.path(), &["tests/jvm/queue.c"]);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/soak/Soak.java");
    jdk.javac(&["--release", "17"], dir.path(), &[&source]);
    let (out, start) = (dir.path().join("out.txt"), Instant::now());
    // A sample of each thread every half millisecond, and room for 64 in each queue.
    let mut program = jdk
        .tool("java")
        .arg("-Xmx256m")
        .arg(format!("-agentpath:{}=500,64,0,0", agent.display()))
        .arg("-cp")
        .arg(dir.path())
        .args(["Soak", &seconds.to_string()])
        .stdout(fs::File::create(&out).expect("a file"))
        .stdin(Stdio::null())
        .spawn()
        .expect("the JVM starts");
    let (mut uses, limit) = (vec![], Duration::from_secs(2 * seconds + 600));
    let pause = Duration::from_secs((seconds / 40).clamp(1, 30));
    let status = loop {
        if let Some(status) = program.try_wait().expect("a child") {
            break status;
        }
        if start.elapsed() > limit {
            program.kill().expect("it ends");
            panic!("the program did not end in {limit:?}");
        }
        if let Some(now) = used(&program) {
            let at = start.elapsed().as_secs();
            println!("{at} s: {} kB, {} files", now.resident, now.files);
            uses.push(now);
        }
        sleep(pause);
    };
    let text = fs::read_to_string(&out).expect("its output");
    println!("{text}");
    assert!(status.success(), "{status}: {text}");
    let number = |name: &str| -> u64 {
        let mut words = text.split_ascii_whitespace();
        let found = words.find(|&word| word == name).and_then(|_| words.next());
        found
            .and_then(|word| word.parse().ok())
            .unwrap_or_else(|| panic!("no {name} in {text}"))
    };
    assert!(number("processed") > 0, "{text}");
    for name in ["failed", "differ", "out_of_order", "sizes_wrong"] {
        assert_eq!(number(name), 0, "{name}: {text}");
    }
    let lost = number("full") + number("left") + number("unmounted");
    assert!(lost * 10 <= number("attempts"), "{lost} lost: {text}");
    // The program fills its heap and its code cache in the first third.
    let third = uses.len() / 3;
    let (warm, last) = (&uses[third..2 * third], &uses[2 * third..]);
    let least = |uses: &[Use]| uses.iter().map(|at| at.resident).min().unwrap_or(0);
    let most = |uses: &[Use]| uses.iter().map(|at| at.files).max().unwrap_or(0);
    assert!(least(last) <= least(warm) * 3 / 2, "memory grows");
    assert!(most(last) <= most(warm) + 4, "open files grow");
}

/// What the program uses, while it runs.
fn used(program: &Child) -> Option<Use> {
    let folder = Path::new("/proc").join(program.id().to_string());
    let status = fs::read_to_string(folder.join("status")).ok()?;
    let resident = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(Use {
        resident: resident.trim().strip_suffix(" kB")?.parse().ok()?,
        files: fs::read_dir(folder.join("fd")).ok()?.count(),
    })
}
