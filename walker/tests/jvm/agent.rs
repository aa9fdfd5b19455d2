//! Runs programs with the agent `compare.c`.

#[path = "../support/agent.rs"]
mod built;

use built::{build, build_with};
use classfile_testing::jdk::Jdk;
use std::path::{Path, PathBuf};
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

/// What the agent `queue.c` does in addition.
#[derive(Copy, Clone, Eq, PartialEq)]
pub enum Queues {
    /// Nothing.
    Plain,
    /// Its handlers get frames of C.
    WithC,
    /// Other threads register the queues, and enqueue while a thread waits in its handler.
    Elsewhere,
    /// The handler before the elements gets no iterator.
    WithoutIterator,
}

/// Runs `fixtures` under the agent `queue.c`: a sample of each thread every millisecond, and queues of this
/// capacity.
pub fn enqueue(
    jdk: &Jdk,
    flags: &[&str],
    fixtures: &[&str],
    capacity: u32,
    queues: Queues,
) -> Answers {
    static AGENT: OnceLock<Agent> = OnceLock::new();
    let agent = AGENT.get_or_init(|| Agent::build(jdk, &["tests/jvm/queue.c"]));
    let [with_c, elsewhere, without] = [Queues::WithC, Queues::Elsewhere, Queues::WithoutIterator]
        .map(|wanted| u8::from(queues == wanted));
    let options = format!("1000,{capacity},{with_c},{elsewhere},{without}");
    agent.run(jdk, &options, flags, fixtures)
}

/// Runs `fixtures` under the agent `names.c`.
pub fn name(jdk: &Jdk, flags: &[&str], fixtures: &[&str]) -> Answers {
    static AGENT: OnceLock<Agent> = OnceLock::new();
    let agent = AGENT.get_or_init(|| Agent::build(jdk, &["tests/jvm/names.c"]));
    agent.run(jdk, "", flags, fixtures)
}

/// Runs `Reuse.java`, which loads so many classes at the addresses of others, under the agent `names.c`.
pub fn name_reused(jdk: &Jdk, flags: &[&str], classes: u32) -> Answers {
    run_program(jdk, ["names.c", ""], flags, ["Reuse", &classes.to_string()])
}

/// Runs `Redefine.java`, which gives a class so many versions, under the agent `names.c`.
pub fn name_redefined(jdk: &Jdk, flags: &[&str], versions: u32) -> Answers {
    let program = ["Redefine", &versions.to_string()];
    run_program(jdk, ["names.c", "redefine"], flags, program)
}

/// Runs `States.java` for two seconds under the agent `states.c`.
pub fn ask_for_states(jdk: &Jdk) -> Answers {
    run_program(jdk, ["states.c", ""], &[], ["States", "2000"])
}

/// Runs a program of this folder, with its argument, under an agent of this folder, with its options.
fn run_program(
    jdk: &Jdk,
    [agent, options]: [&str; 2],
    flags: &[&str],
    [program, argument]: [&str; 2],
) -> Answers {
    let dir = tempfile::tempdir().expect("a folder");
    let agent = build(jdk, dir.path(), &[&format!("tests/jvm/{agent}")]);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jvm");
    let source = sources.join(program).with_extension("java");
    let with = sources.display().to_string();
    jdk.javac(&["-sourcepath", &with], dir.path(), &[&source]);
    let mut command = jdk.tool("java");
    command
        .arg(format!("-agentpath:{}={options}", agent.display()))
        .args(flags)
        .arg("-cp")
        .arg(dir.path())
        .args([program, argument]);
    Answers {
        text: run(&mut command).ok(),
    }
}

/// Runs `fixtures` under the agent `misuse.c`, which loads the library and closes it.
pub fn misuse(jdk: &Jdk, fixtures: &[&str]) -> Answers {
    let dir = tempfile::tempdir().expect("a folder");
    let library = dir.path().join("lib/libasgst.so.0");
    let agent = build_with(
        jdk,
        dir.path(),
        &["tests/jvm/misuse.c"],
        &["-ldl".to_owned()],
    );
    Agent::of(dir, agent).run(jdk, &library.display().to_string(), &[], fixtures)
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
        Agent::of(dir, agent)
    }

    fn of(dir: TempDir, agent: PathBuf) -> Agent {
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
