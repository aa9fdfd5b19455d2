//! A long run: threads and classes come and go while each thread is sampled through a queue of its own.
//!
//! ```text
//! SOAK_SECONDS=7200 cargo test --release -p walker --test soak -- --ignored --nocapture
//! ```
//!
//! It runs on the newest JDK that is found, prints every half minute the memory and the open files of the JVM, and what the
//! library has allocated. It fails if more than a tenth of the samples are refused or lack frames, if another is lost, or if files
//! or memory grow.

#[path = "../support/agent.rs"]
mod built;

use built::build;
use classfile_testing::jdk::Jdk;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What a JVM uses at an instant.
struct Use {
    /// Resident memory, in kB.
    resident: u64,
    /// Open files.
    files: usize,
    /// Bytes and blocks that the library has allocated and not freed.
    allocated: [u64; 2],
}

/// How many blocks the queues of the program's threads may have more at one instant than at another: ten threads of Java at a
/// time, and six blocks a queue.
const BLOCKS_OF_THREADS: u64 = 60;

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
    let (counter, counts) = (
        dir.path().join("allocations.so"),
        dir.path().join("allocations"),
    );
    let built = test_support::run(
        Command::new("cc")
            .args(["-std=gnu11", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra"])
            .args(["-Werror", "-o"])
            .arg(&counter)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/soak/allocations.c")),
    );
    built.ok();
    let (out, start) = (dir.path().join("out.txt"), Instant::now());
    // A sample of each thread every half millisecond, and room for 64 in each queue. No handler gets an iterator of its own, so
    // threads are stopped only for elements that lack frames.
    let mut program = jdk
        .tool("java")
        .env("LD_PRELOAD", &counter)
        .env("ALLOCATIONS", &counts)
        .arg("-Xmx256m")
        .arg(format!("-agentpath:{}=500,64,0,0,1", agent.display()))
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
        if let Some(now) = used(&program, &counts) {
            let at = start.elapsed().as_secs();
            let [bytes, blocks] = now.allocated;
            println!(
                "{at} s: {} kB, {} files, the library {bytes} bytes in {blocks} blocks",
                now.resident, now.files
            );
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
    // A sample that the queue has refused is as lost to a profiler as one whose frames were gone.
    let refused = number("full") + number("busy") + number("not_kept");
    let lost = refused + number("left") + number("unmounted");
    let wanted = number("attempts") + number("not_kept");
    assert!(lost * 10 <= wanted, "{lost} of {wanted} lost: {text}");
    assert_eq!(number("processed"), number("enqueued"), "{text}");
    // The program fills its heap and its code cache in the first third.
    let third = uses.len() / 3;
    let (warm, last) = (&uses[third..2 * third], &uses[2 * third..]);
    let least = |uses: &[Use]| uses.iter().map(|at| at.resident).min().unwrap_or(0);
    let most = |uses: &[Use]| uses.iter().map(|at| at.files).max().unwrap_or(0);
    assert!(least(last) <= least(warm) * 3 / 2, "memory grows");
    // Each thread has a queue. The fewest blocks are those of an instant with the fewest threads.
    let [warm_blocks, last_blocks] =
        [warm, last].map(|uses| uses.iter().map(|at| at.allocated[1]).min().unwrap_or(0));
    assert!(warm_blocks > 0, "the library's blocks were not counted");
    assert!(
        last_blocks <= warm_blocks + BLOCKS_OF_THREADS,
        "the library's memory grows: {warm_blocks} blocks, then {last_blocks}"
    );
    assert!(most(last) <= most(warm) + 4, "open files grow");
}

/// What the program uses, while it runs.
fn used(program: &Child, counts: &Path) -> Option<Use> {
    let folder = Path::new("/proc").join(program.id().to_string());
    let status = fs::read_to_string(folder.join("status")).ok()?;
    let resident = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let counted = fs::read(counts).ok()?;
    let number = |at: usize| {
        Some(u64::from_ne_bytes(
            counted.get(at..at + 8)?.try_into().ok()?,
        ))
    };
    Some(Use {
        allocated: [number(0)?, number(8)?],
        resident: resident.trim().strip_suffix(" kB")?.parse().ok()?,
        files: fs::read_dir(folder.join("fd")).ok()?.count(),
    })
}
