//! The headers and the examples as a profiler's author uses them: compiled without a warning, and run as the
//! comments of the examples say.

#[path = "support/installed.rs"]
mod installed;

use classfile_testing::jdk::Jdk;
use installed::{compiler, install, walker};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
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
                .args(["-Wconversion", "-Wshadow"])
                .args((compiler_name == "c++").then_some("-Weffc++"))
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
    /// Where the commands are run: the folder of the example's sources.
    folder: PathBuf,
    jdk: Jdk,
    jar: PathBuf,
    commands: Vec<String>,
}

impl Example {
    fn new(name: &str, jdk: &Jdk) -> Example {
        let dir = tempfile::tempdir().expect("a folder");
        install(&dir.path().join("asgst"));
        let examples = walker().join("examples");
        let text = fs::read_to_string(examples.join(name)).expect("the example");
        // An example in a folder needs all of it.
        let mut copy = Command::new("cp");
        let whole = name.split('/').next().unwrap_or(name);
        run(copy.arg("-r").arg(examples.join(whole)).arg(dir.path())).ok();
        let fixtures = java_fixtures::write_to(dir.path()).expect("fixtures");
        Example {
            jdk: jdk.clone(),
            jar: fixtures.fixtures_jar,
            commands: commands(&text),
            folder: match name.split_once('/') {
                Some((folder, _)) => dir.path().join(folder),
                None => dir.path().to_owned(),
            },
            dir,
        }
    }

    /// A file of the example, or one that its commands make.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
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
            .env("ASGST", self.dir.path().join("asgst"))
            .env("JAVA_HOME", &self.jdk.home)
            .env("PROGRAM", program)
            .env_remove("JAVA_TOOL_OPTIONS")
            .current_dir(&self.folder);
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

#[test]
fn the_profiler_in_c_samples_cpu_time_by_thread() {
    for jdk in Jdk::all() {
        let example = Example::new("profiler.c", &jdk);
        assert_eq!(example.run("cc ", "").ok(), "");
        let mut java = jdk.tool("java");
        java.env_remove("JAVA_TOOL_OPTIONS")
            .arg("-agentpath:./libprofiler.so=interval=1ms,time=cpu,by=thread,output=flames.html")
            .args(example.program(1500).split(' '))
            .current_dir(&example.folder);
        let text = run(&mut java).ok();
        let (total, failed) = (
            number(&text, "Total traces:"),
            number(&text, "Failed traces:"),
        );
        assert!(failed < total, "{text}");
        // The launcher runs `main` in a thread that the kernel calls "java".
        let page = fs::read_to_string(example.path("flames.html")).expect("the flame graph");
        assert!(page.contains("{\"name\":\"java\","), "{page}");
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

/// A program that runs until it is ended, to attach to. Its output is in a file.
struct Started {
    child: Ended,
    output: PathBuf,
}

impl Started {
    fn new(example: &Example) -> Started {
        let output = example.path("output");
        let file = fs::File::create(&output).expect("a file");
        let mut java = example.jdk.tool("java");
        java.env_remove("JAVA_TOOL_OPTIONS")
            .args(example.program(3_600_000).split(' '))
            .current_dir(&example.folder)
            .stdout(file.try_clone().expect("a file"))
            .stderr(file);
        Started {
            child: Ended(java.spawn().expect("a JVM")),
            output,
        }
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.output).expect("the output")
    }

    fn assert_runs(&mut self) {
        let ended = self.child.0.try_wait().expect("a child");
        assert!(ended.is_none(), "the JVM has ended: {}", self.text());
    }
}

#[test]
fn the_profiler_in_c_attaches_and_detaches_as_its_comment_says() {
    for jdk in Jdk::all() {
        let example = Example::new("profiler.c", &jdk);
        assert_eq!(example.run("cc ", "").ok(), "");
        let mut program = Started::new(&example);
        let pid = program.child.0.id().to_string();
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
            program.assert_runs();
            jcmd(load).stdout.contains("return code: 0").then_some(())
        });
        std::thread::sleep(std::time::Duration::from_secs(1));
        let stopped = jcmd(stop);
        assert!(stopped.stdout.contains("return code: 0"), "{stopped:?}");
        let text = program.text();
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

/// The jar of tiny-profiler, made as the comment of its main class says.
fn tiny_profiler(jdk: &Jdk) -> Example {
    let example = Example::new("tiny-profiler/Main.java", jdk);
    for tool in ["javac", "jar"] {
        let built = example.run(&format!("$JAVA_HOME/bin/{tool} "), "");
        assert_eq!(built.ok(), "", "{tool}");
    }
    example
}

/// The rows of the table: method, samples, and samples on top.
fn rows(text: &str) -> Vec<(&str, f64, f64)> {
    let table = text
        .split_once("On top")
        .unwrap_or_else(|| panic!("no table in {text}"));
    let rows = table.1.lines().skip(1).map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [method, samples, _, on_top, _] = words[..] else {
            panic!("{line}");
        };
        let count = |word: &str| word.parse().unwrap_or_else(|e| panic!("{word}: {e}"));
        (method, count(samples), count(on_top))
    });
    rows.collect()
}

#[test]
fn tiny_profiler_runs_as_its_comment_says() {
    for jdk in Jdk::all() {
        let example = tiny_profiler(&jdk);
        let text = example
            .run("$JAVA_HOME/bin/java ", &example.program(1500))
            .ok();
        let total = number(&text, "Total samples:");
        let rows = rows(&text);
        // Every thread that is no daemon began in a main method, or in Thread.run.
        let main = rows
            .iter()
            .find(|row| row.0 == "stackwitness.fixtures.Main.main");
        let (_, below, on_top) = main.unwrap_or_else(|| panic!("no main: {text}"));
        assert!(total > 0.0 && *below <= total && on_top <= below, "{text}");
        assert!(rows.iter().map(|row| row.2).sum::<f64>() <= total, "{text}");
        // Daemon threads are left out, the profiler's own among them.
        assert!(!text.contains("tiny.Profiler"), "{text}");
        is_flame_graph(&example.path("flames.html"));
    }
}

#[test]
fn tiny_profiler_attaches_as_its_comment_says() {
    for jdk in Jdk::all() {
        let example = tiny_profiler(&jdk);
        let mut program = Started::new(&example);
        let pid = program.child.0.id().to_string();
        // The VM may not be ready to be attached to. The second time it is profiled already.
        until("attaching", || {
            program.assert_runs();
            run(example.shell("$JAVA_HOME/bin/jcmd ", "").env("PID", &pid));
            program.text().contains("profiled already").then_some(())
        });
        std::thread::sleep(std::time::Duration::from_secs(1));
        // The JVM runs its shutdown hooks at SIGTERM.
        run(Command::new("kill").arg(&pid)).ok();
        until("the end of the program", || {
            program.child.0.try_wait().expect("a child")
        });
        assert!(
            number(&program.text(), "Total samples:") > 0.0,
            "{}",
            program.text()
        );
        is_flame_graph(&example.path("attached.html"));
    }
}

#[test]
fn tiny_profiler_names_the_option_that_it_does_not_understand() {
    for jdk in Jdk::all() {
        let example = tiny_profiler(&jdk);
        for (options, message) in [
            ("interval=5x", "interval=\"5x\" is no time"),
            ("interval=0", "interval=\"0\" is no time"),
            ("flamegraph", "flamegraph needs a file"),
            ("table=maybe", "table is true or false"),
            ("rate=7", "unknown option \"rate=7\""),
        ] {
            let mut java = jdk.tool("java");
            java.arg(format!("-javaagent:tiny-profiler.jar={options}"))
                .arg("-version")
                .current_dir(&example.folder);
            let ran = run(&mut java);
            assert!(ran.stderr.contains(message), "{options}: {ran:?}");
            assert!(!ran.stdout.contains("method table"), "{options}: {ran:?}");
        }
    }
}
