//! Runs programs with the agent `compare.c`.

#[path = "../support/agent.rs"]
mod built;

use built::build;
use classfile_testing::jdk::Jdk;
use std::path::PathBuf;
use std::sync::OnceLock;
use tempfile::TempDir;
use test_support::run;

/// The output of the agent.
pub struct Answers {
    /// The whole text.
    pub text: String,
}

impl Answers {
    /// The number that follows `name`.
    pub fn number(&self, name: &str) -> u64 {
        let mut words = self.text.split_ascii_whitespace();
        words
            .find(|&word| word == name)
            .and_then(|_| words.next()?.parse().ok())
            .unwrap_or_else(|| panic!("no {name} in {}", self.text))
    }
}

/// Runs `fixtures` under the agent `compare.c`, with a sample of each thread every 200 µs.
pub fn compare(jdk: &Jdk, flags: &[&str], fixtures: &[&str]) -> Answers {
    static AGENT: OnceLock<Agent> = OnceLock::new();
    let agent = AGENT.get_or_init(|| Agent::build(jdk, &["tests/jvm/compare.c"]));
    agent.run(jdk, "200,5,1", flags, fixtures)
}

/// Runs `fixtures` under the agent `queue.c`: a sample of each thread every millisecond, and queues of this
/// capacity, whose handlers get frames of C if `with_c`. If `elsewhere`, other threads register the queues, and enqueue while a thread
/// waits in its handler.
pub fn enqueue(
    jdk: &Jdk,
    flags: &[&str],
    fixtures: &[&str],
    capacity: u32,
    with_c: bool,
    elsewhere: bool,
) -> Answers {
    static AGENT: OnceLock<Agent> = OnceLock::new();
    let agent = AGENT.get_or_init(|| Agent::build(jdk, &["tests/jvm/queue.c"]));
    let options = format!(
        "1000,{capacity},{},{}",
        u8::from(with_c),
        u8::from(elsewhere)
    );
    agent.run(jdk, &options, flags, fixtures)
}

/// Runs `fixtures` under the agent `names.c`.
pub fn name(jdk: &Jdk, flags: &[&str], fixtures: &[&str]) -> Answers {
    static AGENT: OnceLock<Agent> = OnceLock::new();
    let agent = AGENT.get_or_init(|| Agent::build(jdk, &["tests/jvm/names.c"]));
    agent.run(jdk, "", flags, fixtures)
}

/// An agent, and the fixtures.
pub struct Agent {
    _dir: TempDir,
    agent: PathBuf,
    jar: PathBuf,
}

impl Agent {
    /// Builds the agent from `sources`, for a JVM of `jdk`.
    pub fn build(jdk: &Jdk, sources: &[&str]) -> Agent {
        let dir = tempfile::tempdir().expect("a folder");
        let agent = build(jdk, dir.path(), sources);
        let installed = java_fixtures::write_to(dir.path()).expect("fixtures");
        Agent {
            _dir: dir,
            agent,
            jar: installed.fixtures_jar,
        }
    }

    fn run(&self, jdk: &Jdk, options: &str, flags: &[&str], fixtures: &[&str]) -> Answers {
        let mut command = jdk.tool("java");
        command
            .arg(format!("-agentpath:{}={options}", self.agent.display()))
            .args(flags)
            .arg("-cp")
            .arg(&self.jar)
            .arg(java_fixtures::MAIN_CLASS)
            .args(fixtures)
            .args(["--millis", "700"]);
        let output = run(&mut command);
        Answers { text: output.ok() }
    }
}
