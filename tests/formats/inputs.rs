//! Files of stacks: several at once, packed, of a living JVM, cut off, and what is said of them.

use crate::support::{jdks, record_fixtures, run, stackwitness};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs `edges` with these arguments, in `folder`, on the first JDK.
fn edges(folder: &Path, arguments: &[&str]) -> Option<crate::support::Output> {
    let jdk = jdks().into_iter().next()?;
    let mut command = stackwitness();
    command
        .args(["judge", "--max-unknown", "1", "--jdk"])
        .arg(jdk);
    Some(run(command.args(arguments).current_dir(folder)))
}

/// A stack that the JDK's class files allow, three times.
const POSSIBLE: &str =
    "java/lang/Thread.run;java/util/TimerThread.run;java/util/TimerThread.mainLoop 3\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn files_folders_and_archives_are_judged_together() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(dir.path().join("one.txt"), POSSIBLE).unwrap();
    fs::write(folder.join("two.txt.gz"), gzip(POSSIBLE.as_bytes())).unwrap();
    let mut archive = zip::ZipWriter::new(File::create(folder.join("three.zip")).unwrap());
    for name in ["a.txt", "b.txt"] {
        archive
            .start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        archive.write_all(POSSIBLE.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
    let Some(output) = edges(dir.path(), &["one.txt", "folder"]) else {
        return;
    };
    assert_eq!(output.code, Some(0), "{output:?}");
    // Collapsed stacks have neither descriptors nor BCIs: of each stack two edges are judged by names, and
    // the top is not judged.
    let whole = "judged in full: 0.0 % of the edges; by names alone: 24; not at all, since the format \
                 does not tell where the top stands: 12\n";
    assert!(output.stdout.contains(whole), "{output:?}");
    assert!(
        output.stdout.contains("\nstacks 12, edges 24, "),
        "{output:?}"
    );
    assert!(
        output.stdout.ends_with(", impossible 0, unknown 0\n"),
        "{output:?}"
    );
}

#[test]
fn each_impossible_edge_has_a_whole_stack_and_its_stacks_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let frame = |class: &str, method: &str, bci: u32| serde_json::json!({"class": class, "method": method, "descriptor": "()V", "bci": bci});
    let good = serde_json::json!({"frames": [frame("java.lang.Thread", "run", 0)]});
    let bad = serde_json::json!({"frames": [
        frame("java.util.TimerThread", "run", 0),
        frame("java.lang.Object", "<init>", 0),
    ]});
    let lines = format!("{bad}\n{good}\n{bad}\n");
    fs::write(dir.path().join("stacks.jsonl"), lines).unwrap();
    let Some(output) = edges(dir.path(), &["-o", "out.json", "stacks.jsonl"]) else {
        return;
    };
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output
            .stdout
            .contains("\nstacks with an impossible edge: 2\n"),
        "{output:?}"
    );
    let stack =
        "at java.util.TimerThread.run()V@0\n                  at java.lang.Object.<init>()V@0\n";
    assert!(output.stdout.contains(stack), "{output:?}");
    let report = fs::read_to_string(dir.path().join("out.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["impossible_stacks"], 2);
    let edge = &report["not_possible"][0];
    assert_eq!(
        (&edge["verdict"], &edge["count"]),
        (&"impossible".into(), &2.into())
    );
    let example = [
        "java.util.TimerThread.run()V@0",
        "java.lang.Object.<init>()V@0",
    ];
    assert_eq!(edge["example"], serde_json::json!(example));
}

/// Ends a JVM whatever becomes of the test.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn dumps_of_a_living_jvm_are_judged() {
    for jdk in jdks() {
        let [javac, jcmd, jstack] =
            ["javac", "jcmd", "jstack"].map(|tool| jdk.join("bin").join(tool));
        if ![&javac, &jcmd, &jstack].iter().all(|tool| tool.exists()) {
            println!("skipped: {} lacks a tool", jdk.display());
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("Waits.java");
        let text = "public class Waits { public static void main(String[] args) throws Exception {
            Runnable wait = () -> { try { Thread.sleep(600_000); } catch (InterruptedException e) { } };
            new java.util.Timer(true).schedule(new java.util.TimerTask() {
                @Override public void run() { wait.run(); } }, 1);
            java.util.concurrent.Executors.newFixedThreadPool(1).submit(wait);
            Thread.sleep(200);
            System.out.println(\"ready\");
            wait.run(); } }";
        fs::write(&source, text).unwrap();
        let compiled = run(Command::new(javac).arg("-d").arg(dir.path()).arg(&source));
        assert_eq!(compiled.code, Some(0), "{compiled:?}");
        let mut java = Command::new(jdk.join("bin/java"));
        java.arg("-cp")
            .arg(dir.path())
            .arg("Waits")
            .stdout(Stdio::piped());
        let mut running = Running(java.spawn().unwrap());
        let mut line = String::new();
        let output = running.0.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        let pid = running.0.id().to_string();
        for (name, command) in [
            ("jcmd.txt", Command::new(&jcmd).args([&pid, "Thread.print"])),
            ("jstack.txt", Command::new(&jstack).arg(&pid)),
        ] {
            let dump = run(command);
            assert_eq!(dump.code, Some(0), "{dump:?}");
            fs::write(dir.path().join(name), dump.stdout).unwrap();
            let mut command = stackwitness();
            command
                .args(["judge", "--jdk"])
                .arg(&jdk)
                .arg("--classpath")
                .arg(dir.path());
            let output = run(command.arg(dir.path().join(name)));
            println!("{}: {}", jdk.display(), output.stdout);
            assert_eq!(output.code, Some(0), "{output:?}");
            assert!(output.stdout.contains("by names alone: "), "{output:?}");
        }
    }
}

/// A recording of the newest JDK. Returns the folder that holds the recording, and its file.
fn recording() -> Option<(tempfile::TempDir, PathBuf)> {
    let jdk = jdks().pop()?;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("recording.jfr");
    let fixtures = ["tree-maps", "--millis", "500"];
    record_fixtures(&jdk, &file, ",settings=profile", &[], &fixtures);
    Some((dir, file))
}

#[test]
fn an_event_that_is_not_there_lists_those_with_stacks() {
    let Some((_dir, file)) = recording() else {
        return;
    };
    let judge = |event: &str| run(stackwitness().args(["judge", "--event", event]).arg(&file));
    let output = judge("jdk.ExecutionSampel");
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(
        output
            .stderr
            .contains("no event `jdk.ExecutionSampel` holds stacks; these do: jdk."),
        "{output:?}"
    );
    assert!(output.stderr.contains("jdk.ExecutionSample"), "{output:?}");
    assert_eq!(judge("jdk.ExecutionSample").code, Some(0));
}

#[test]
fn whole_chunks_of_a_cut_recording_are_judged() {
    let Some((dir, file)) = recording() else {
        return;
    };
    let whole = run(stackwitness().arg("judge").arg(&file));
    assert_eq!(whole.code, Some(0), "{whole:?}");
    let bytes = fs::read(&file).unwrap();
    let cut = dir.path().join("cut.jfr");
    fs::write(&cut, [&bytes[..], &bytes[..bytes.len() / 2]].concat()).unwrap();
    let output = run(stackwitness().arg("judge").arg(&cut));
    assert_eq!(output.stdout, whole.stdout);
    assert!(
        output
            .stderr
            .contains("not read: chunk 2 and what follows: "),
        "{output:?}"
    );
}
