//! The headers and the examples as a profiler's author uses them: compiled without a warning, and run as the
//! comments of the examples say.

#[path = "support/installed.rs"]
mod installed;

use classfile_testing::jdk::Jdk;
use installed::{compiler, install, walker};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;
use test_support::{Output, run, until};

const FIXTURES: [&str; 2] = ["mutual-recursion", "streams"];

#[test]
fn headers_and_examples_compile_without_a_warning() {
    let Some(jdk) = Jdk::all().into_iter().next() else {
        return;
    };
    let dir = tempfile::tempdir().expect("a folder");
    install(dir.path());
    let empty = |name: &str, header: &str| {
        let file = dir.path().join(name);
        fs::write(&file, format!("#include <{header}>\nint unused;\n")).expect("a source");
        file
    };
    let (c, cpp) = (
        empty("empty.c", "profile2.h"),
        empty("empty.cpp", "profile2.h"),
    );
    let face = empty("face.cpp", "asgst.hpp");
    let profiler = walker().join("examples/profiler.c");
    let queue = walker().join("examples/queue.cpp");
    for (compiler_name, file, standards) in [
        ("cc", &c, &["c89", "c99", "c11", "c17", "gnu17"][..]),
        ("cc", &profiler, &["c11", "c17", "gnu17"]),
        ("c++", &cpp, &["c++98", "c++11", "c++17", "c++20"]),
        ("c++", &face, &["c++17", "c++20", "gnu++20"]),
        ("c++", &queue, &["c++17", "c++20"]),
    ] {
        for standard in standards {
            let mut compile = compiler(compiler_name, dir.path(), &jdk);
            compile
                .args(["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"])
                .arg(format!("-std={standard}"))
                .arg(file);
            run(&mut compile).ok();
        }
    }
}

/// The commands in the first comment of an example: indented lines that start with a compiler or a tool of the JDK,
/// and their continuations.
fn commands(source: &str) -> Vec<String> {
    let comment = source.split("*/").next().unwrap_or_default();
    let mut commands: Vec<String> = vec![];
    let mut goes_on = false;
    for line in comment.lines() {
        let Some(line) = line.strip_prefix(" *   ").map(str::trim) else {
            continue;
        };
        let part = line.trim_end_matches('\\');
        let starts = ["cc ", "c++ ", "$JAVA_HOME/"]
            .iter()
            .any(|start| line.starts_with(start));
        match commands.last_mut() {
            Some(command) if goes_on => command.push_str(part),
            _ if starts => commands.push(part.to_owned()),
            _ => continue,
        }
        goes_on = line.ends_with('\\');
    }
    commands
}

/// An example with the library and the fixtures.
struct Example {
    dir: TempDir,
    jdk: Jdk,
    jar: PathBuf,
    commands: Vec<String>,
}

impl Example {
    fn new(name: &str, jdk: &Jdk) -> Example {
        let dir = tempfile::tempdir().expect("a folder");
        install(&dir.path().join("asgst"));
        let source = walker().join("examples").join(name);
        let text = fs::read_to_string(&source).expect("the example");
        fs::copy(&source, dir.path().join(name)).expect("a copy");
        let fixtures = java_fixtures::write_to(dir.path()).expect("fixtures");
        Example {
            jdk: jdk.clone(),
            jar: fixtures.fixtures_jar,
            commands: commands(&text),
            dir,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn program(&self, millis: u32) -> String {
        let (jar, main) = (self.jar.display(), java_fixtures::MAIN_CLASS);
        format!("-cp {jar} {main} {} --millis {millis}", FIXTURES.join(" "))
    }

    /// The command that begins with `start`, in a shell.
    fn shell(&self, start: &str, program: &str) -> Command {
        let found = self
            .commands
            .iter()
            .find(|command| command.starts_with(start));
        let command = found.unwrap_or_else(|| panic!("no {start} in {:?}", self.commands));
        let mut shell = Command::new("sh");
        shell
            .args(["-ec", command])
            .env("ASGST", self.path("asgst"))
            .env("JAVA_HOME", &self.jdk.home)
            .env("PROGRAM", program)
            .env_remove("JAVA_TOOL_OPTIONS")
            .current_dir(self.dir.path());
        shell
    }

    fn run(&self, start: &str, program: &str) -> Output {
        run(&mut self.shell(start, program))
    }
}

/// The number behind `label` in a text.
fn number(text: &str, label: &str) -> f64 {
    let rest = text
        .split_once(label)
        .unwrap_or_else(|| panic!("no {label} in {text}"))
        .1;
    let number = rest
        .trim_start()
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .next();
    number
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("{label}: {text}"))
}

fn is_flame_graph(page: &Path) {
    let text = fs::read_to_string(page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
    assert!(text.starts_with("<!doctype html>"), "{text}");
    assert!(text.contains("\"children\":[{\"name\":\""), "{text}");
}

#[test]
fn the_profiler_in_c_runs_as_its_comment_says() {
    for jdk in Jdk::all() {
        let example = Example::new("profiler.c", &jdk);
        assert_eq!(example.run("cc ", "").ok(), "");
        let text = example
            .run("$JAVA_HOME/bin/java ", &example.program(1500))
            .ok();
        let (total, failed) = (
            number(&text, "Total traces:"),
            number(&text, "Failed traces:"),
        );
        assert!(failed < total, "{text}");
        assert!(text.contains("===== method table ======"), "{text}");
        is_flame_graph(&example.path("flames.html"));
    }
}

/// A child that does not outlive the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

#[test]
fn the_profiler_in_c_attaches_and_detaches_as_its_comment_says() {
    for jdk in Jdk::all() {
        let example = Example::new("profiler.c", &jdk);
        assert_eq!(example.run("cc ", "").ok(), "");
        let output = example.path("output");
        let mut java = jdk.tool("java");
        java.env_remove("JAVA_TOOL_OPTIONS")
            .args(example.program(3_600_000).split(' '))
            .current_dir(example.dir.path())
            .stdout(fs::File::create(&output).expect("a file"))
            .stderr(Stdio::null());
        let mut program = Ended(java.spawn().expect("a JVM"));
        let pid = program.0.id().to_string();
        let attach = example
            .commands
            .iter()
            .filter(|command| command.contains("jcmd"));
        let [load, stop] = attach.map(String::as_str).collect::<Vec<_>>()[..] else {
            panic!("two commands: {:?}", example.commands);
        };
        let jcmd = |command: &str| run(example.shell(command, "").env("PID", &pid));
        // The VM may not be ready to be attached to.
        until("attaching", || {
            assert!(
                program.0.try_wait().expect("a child").is_none(),
                "the JVM has ended"
            );
            jcmd(load).stdout.contains("return code: 0").then_some(())
        });
        std::thread::sleep(std::time::Duration::from_secs(1));
        let stopped = jcmd(stop);
        assert!(stopped.stdout.contains("return code: 0"), "{stopped:?}");
        let text = fs::read_to_string(&output).expect("the output");
        let (total, failed) = (
            number(&text, "Total traces:"),
            number(&text, "Failed traces:"),
        );
        assert!(failed < total, "{text}");
        is_flame_graph(&example.path("attached.html"));
    }
}

#[test]
fn the_profiler_on_the_queue_runs_as_its_comment_says() {
    for jdk in Jdk::all() {
        let example = Example::new("queue.cpp", &jdk);
        assert_eq!(example.run("c++ ", "").ok(), "");
        let text = example
            .run("$JAVA_HOME/bin/java ", &example.program(1500))
            .ok();
        let enqueued = number(&text, "Enqueued:");
        assert!(enqueued > 0.0, "{text}");
        let left = number(&text, "left:");
        // Each enqueued sample is counted once, or was left by a thread that ended.
        assert!(left <= 0.1 * enqueued, "{text}");
        let stacks = text.lines().filter(|line| line.starts_with("all"));
        let samples = stacks.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok());
        assert_eq!(samples.sum::<f64>() + left, enqueued, "{text}");
        let depths = text.lines().map(|line| line.split(';').count());
        assert!(depths.max() > Some(3), "{text}");
    }
}
