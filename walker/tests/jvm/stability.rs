//! Runs programs with the agent `stability.c`, which asks a walker from altered contexts, and reads what the run
//! leaves: the file of counts, and the JVM's crash report.

use crate::FIXTURES;
use crate::agent::Agent;
use classfile_testing::jdk::Jdk;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::OnceLock;
use test_support::run;

/// In `place` of a change: a word of the stack (`wild.h`).
pub const STACK: u64 = 0x1000;

/// How a JVM is tested.
pub struct Trial<'a> {
    /// The walker: `asgct`, `asgst`, or `naive`, which crashes.
    pub walker: &'a str,
    /// Flags of the VM.
    pub flags: &'a [&'a str],
    /// The time between two signals, in microseconds.
    pub interval: u32,
    /// The seed of the alterations.
    pub seed: u64,
    /// Whether words of the stack are altered too.
    pub with_stack: bool,
    /// How long each fixture runs.
    pub millis: u32,
}

/// What a run leaves.
pub struct Left {
    /// The exit code of the JVM; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The JVM's report of its crash, if it has crashed.
    pub crash: Option<String>,
    /// The counts, and the last altered context.
    pub wild: Wild,
}

/// `Wild` in `wild.h`.
pub struct Wild {
    pub walks: u64,
    pub answers: u64,
    pub longest_nanos: u64,
    /// The errors, by their codes.
    pub errors: BTreeMap<i32, u64>,
    /// The alterations, by their kinds.
    pub alterations: Vec<u64>,
    /// Whether the last walk has not ended.
    pub under_way: bool,
    /// The registers with which it began.
    pub registers: Vec<u64>,
    /// What was altered for it.
    pub changes: Vec<Change>,
}

/// `WildChange` in `wild.h`.
#[derive(Debug)]
pub struct Change {
    pub place: u64,
    pub kind: u64,
    pub before: u64,
    pub after: u64,
}

impl Wild {
    fn read(path: &Path) -> Wild {
        let bytes = std::fs::read(path).expect("the agent made the file");
        let mut words = bytes
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
        let mut word = || words.next().expect("the file is whole");
        let (walks, answers, longest_nanos, _slow) = (word(), word(), word(), word());
        let errors: Vec<u64> = (0..64).map(|_| word()).collect();
        let errors = (0..).map(|code: i32| -code).zip(errors);
        Wild {
            walks,
            answers,
            longest_nanos,
            errors: errors.filter(|&(_, count)| count > 0).collect(),
            alterations: (0..8).map(|_| word()).collect(),
            under_way: word() == 1,
            registers: (0..23).map(|_| word()).collect(),
            changes: (0..word())
                .map(|_| Change {
                    place: word(),
                    kind: word(),
                    before: word(),
                    after: word(),
                })
                .collect(),
        }
    }
}

/// The kinds of alterations, in the order of `wild.h`.
const KINDS: [&str; 8] = [
    "up by bytes",
    "down by bytes",
    "up by words",
    "down by words",
    "bit",
    "other register",
    "far",
    "random",
];

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.checked_sub(STACK) {
            None => write!(f, "register {}", self.place)?,
            Some(distance) => write!(f, "stack pointer + {distance}")?,
        }
        let kind = usize::try_from(self.kind).map(|kind| KINDS[kind]);
        let kind = kind.expect("it is small");
        write!(f, ": {kind}: {:#x} to {:#x}", self.before, self.after)
    }
}

impl Left {
    /// The frame in which the JVM crashed, by its report.
    pub fn crashed_in(&self) -> Option<&str> {
        let (_, below) = self.crash.as_ref()?.split_once("Problematic frame:\n# ")?;
        below.lines().next()
    }
}

/// Runs the fixtures. The files of the run are in `dir`, which is made.
pub fn test(jdk: &Jdk, trial: &Trial<'_>, dir: &Path) -> Left {
    static AGENT: OnceLock<Agent> = OnceLock::new();
    let sources = ["tests/jvm/stability.c", "tests/jvm/wild.c"];
    let agent = AGENT.get_or_init(|| Agent::build(jdk, &sources));
    std::fs::create_dir_all(dir).expect("a folder");
    let (counts, crash) = (dir.join("altered.bin"), dir.join("hs_err.log"));
    for old in [&counts, &crash] {
        // There is none, or an earlier run left it.
        let _ = std::fs::remove_file(old);
    }
    let Trial {
        walker,
        interval,
        seed,
        ..
    } = trial;
    let with_stack = u32::from(trial.with_stack);
    let options = format!(
        "{},{walker},{interval},50,{seed},{with_stack}",
        counts.display()
    );
    let mut command = agent.command(jdk, &options, trial.flags, &FIXTURES, trial.millis);
    let output = run(command.env("_JAVA_OPTIONS", error_file(&crash)));
    let wild = Wild::read(&counts);
    let changes = wild.changes.iter().map(|change| format!("{change}\n"));
    let altered = dir.join("altered.txt");
    std::fs::write(altered, changes.collect::<String>()).expect("the folder is there");
    Left {
        code: output.code,
        crash: std::fs::read_to_string(crash).ok(),
        wild,
    }
}

fn error_file(at: &Path) -> String {
    format!("-XX:ErrorFile={} -XX:-CreateCoredumpOnCrash", at.display())
}
