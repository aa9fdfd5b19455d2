//! Files of stacks: several at once, packed, of a living JVM, cut off, and what is said of them.

use crate::support::{Output, Place, jdks, record_fixtures, run};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Runs `judge` with these words on the first JDK.
fn judge(place: &Place, words: &str) -> Option<Output> {
    let jdk = jdks().into_iter().next()?;
    let jdk = jdk.display();
    Some(place.run(&format!("judge --max-unknown 1 --jdk {jdk} {words}")))
}

/// A stack that the class files of each JDK allow, three times.
const POSSIBLE: &str =
    "java/util/TimerThread.run;java/util/TimerThread.mainLoop;java/lang/Object.wait 3\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn files_folders_and_archives_are_judged_together() {
    let place = Place::new();
    fs::create_dir(place.path("folder")).unwrap();
    place.write("one.txt", POSSIBLE);
    place.write("folder/two.txt.gz", gzip(POSSIBLE.as_bytes()));
    let mut archive = ZipWriter::new(File::create(place.path("folder/three.zip")).unwrap());
    for name in ["a.txt", "b.txt"] {
        archive
            .start_file(name, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(POSSIBLE.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
    let Some(output) = judge(&place, "one.txt folder") else {
        return;
    };
    let output = output.ended(0);
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
    let place = Place::new();
    let frame = |class: &str, method: &str, bci: u32| serde_json::json!({"class": class, "method": method, "descriptor": "()V", "bci": bci});
    let good = serde_json::json!({"frames": [frame("java.lang.Thread", "run", 0)]});
    let bad = serde_json::json!({"frames": [
        frame("java.util.TimerThread", "run", 0),
        frame("java.lang.Object", "<init>", 0),
    ]});
    let lines = format!("{bad}\n{good}\n{bad}\n");
    place.write("stacks.jsonl", lines);
    let Some(output) = judge(&place, "-o out.json stacks.jsonl") else {
        return;
    };
    let output = output.ended(1);
    let counted = "\nstacks with an impossible edge: 2\n";
    assert!(output.stdout.contains(counted), "{output:?}");
    let stack =
        "at java.util.TimerThread.run()V@0\n                  at java.lang.Object.<init>()V@0\n";
    assert!(output.stdout.contains(stack), "{output:?}");
    let report: serde_json::Value = serde_json::from_str(&place.read("out.json")).unwrap();
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
        let [jcmd, jstack] = ["jcmd", "jstack"].map(|tool| jdk.join("bin").join(tool));
        if !jcmd.exists() || !jstack.exists() {
            println!("skipped: {} lacks a tool", jdk.display());
            continue;
        }
        let place = Place::on(&jdk);
        let text = "public class Waits { public static void main(String[] args) throws Exception {
            Runnable wait = () -> { try { Thread.sleep(600_000); } catch (InterruptedException e) { } };
            new java.util.Timer(true).schedule(new java.util.TimerTask() {
                @Override public void run() { wait.run(); } }, 1);
            java.util.concurrent.Executors.newFixedThreadPool(1).submit(wait);
            Thread.sleep(200);
            System.out.println(\"ready\");
            wait.run(); } }";
        if !place.compiles("Waits", text) {
            continue;
        }
        let mut java = Command::new(jdk.join("bin/java"));
        java.args(["-cp", ".", "Waits"]).current_dir(place.path(""));
        java.stdout(Stdio::piped());
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
            place.write(name, run(command).ok());
            let output = place.run(&format!("judge --classpath . {name}"));
            println!("{}: {}", jdk.display(), output.stdout);
            assert_eq!(output.code, Some(0), "{output:?}");
            assert!(output.stdout.contains("by names alone: "), "{output:?}");
        }
    }
}

/// A place with a recording of the newest JDK.
fn recording() -> Option<Place> {
    let jdk = jdks().pop()?;
    let place = Place::on(&jdk);
    let fixtures = ["tree-maps", "--millis", "500"];
    let file = place.path("recording.jfr");
    record_fixtures(&jdk, &file, ",settings=profile", &[], &fixtures);
    Some(place)
}

#[test]
fn an_event_that_is_not_there_lists_those_with_stacks() {
    let Some(place) = recording() else {
        return;
    };
    let judge = |event: &str| place.run(&format!("judge --event {event} recording.jfr"));
    let output = judge("jdk.ExecutionSampel").ended(2);
    for expected in [
        "no event `jdk.ExecutionSampel` holds stacks; these do: jdk.",
        "jdk.ExecutionSample",
    ] {
        assert!(output.stderr.contains(expected), "{output:?}");
    }
    judge("jdk.ExecutionSample").ended(0);
}

#[test]
fn whole_chunks_of_a_cut_recording_are_judged() {
    let Some(place) = recording() else {
        return;
    };
    let whole = place.run("judge recording.jfr").ended(0);
    let bytes = fs::read(place.path("recording.jfr")).unwrap();
    place.write("cut.jfr", [&bytes[..], &bytes[..bytes.len() / 2]].concat());
    let output = place.run("judge cut.jfr");
    assert_eq!(output.stdout, whole.stdout);
    let expected = "not read: chunk 2 and what follows: ";
    assert!(output.stderr.contains(expected), "{output:?}");
}
