//! Each error gives one clear message and the exit code of its kind.

use crate::support::{Output, Place};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

const STARTED: &str = r#"echo '{"started":{"home":"h","vendor":"v","version":"17","vm":"Other VM","asgct":true}}' > $dir/records.jsonl"#;

/// A command that runs the program of a user.
const USERS: &str = "run --out out -- Prog";

/// Runs a command on a JDK whose `java` is `script`.
fn with_fake(script: &str, words: &str) -> Output {
    Place::with_fake_jdk(script).run(words)
}

/// The command must have ended with this exit code, and a message with this text.
#[track_caller]
fn expect(output: Output, code: i32, message: &str) {
    let output = output.ended(code);
    assert!(output.stderr.contains(message), "{output:#?}");
}

/// Likewise, and the message has one line.
#[track_caller]
fn expect_line(output: Output, code: i32, message: &str) {
    assert_eq!(output.stderr.lines().count(), 1, "{output:#?}");
    expect(output, code, message);
}

#[test]
fn no_jdk() {
    let place = Place::new();
    expect_line(place.run("run --jdk ."), 2, "there is no bin/java in it");
    let nowhere = Place::on(&place.path("."));
    expect(nowhere.run("run"), 2, "(from JAVA_HOME)");
}

#[test]
fn a_folder_that_cannot_be_written() {
    let place = Place::with_fake_jdk("exit 0");
    place.write("file", "in the way");
    let output = place.run("run --out file");
    expect_line(output, 2, "name another place with -o");
}

/// A command for an agent that is not there.
fn without_agent(place: &Place) -> Output {
    let mut command = place.command("run --out out");
    crate::support::run(command.env("STACKWITNESS_AGENT", "/no/such/agent.so"))
}

#[test]
fn no_agent() {
    let output = without_agent(&Place::with_fake_jdk("exit 0"));
    expect(output, 3, "/no/such/agent.so (from STACKWITNESS_AGENT)");
}

#[test]
fn a_report_of_before_stays_until_a_new_one_is_there() {
    let place = Place::with_fake_jdk("exit 0");
    fs::create_dir(place.path("out")).unwrap();
    place.write("out/report.json", "the old one");
    without_agent(&place);
    assert_eq!(place.read("out/report.json"), "the old one");
}

#[test]
fn an_old_jdk() {
    let place = Place::with_fake_jdk("exit 0");
    place.write("jdk/release", "JAVA_VERSION=\"11.0.24\"\n");
    let expected = "is JDK 11.0.24; the oldest that can be judged is 17";
    expect_line(place.run("run --out out"), 2, expected);

    // No file in the folder gives the version, but the VM does.
    let script = STARTED.replace("\"17\"", "\"11.0.24+8\"");
    let expected = "the JVM is of version 11.0.24+8";
    expect(with_fake(&script, USERS), 3, expected);
}

#[test]
fn a_java_that_cannot_be_executed() {
    let place = Place::with_fake_jdk("");
    fs::set_permissions(place.path("jdk/bin/java"), Permissions::from_mode(0o644)).unwrap();
    expect(place.run(USERS), 3, "java could not be started");
}

#[test]
fn a_jvm_without_asgct() {
    let script = STARTED.replace("true", "false");
    let expected = "Other VM has no AsyncGetCallTrace; choose a HotSpot JDK with --jdk";
    expect(with_fake(&script, USERS), 3, expected);
}

#[test]
fn an_agent_that_gave_up() {
    let script = STARTED.to_owned() + r#"; echo '{"invalid":"it panicked"}' >> $dir/records.jsonl"#;
    let expected = "the agent gave up: it panicked";
    expect(with_fake(&script, USERS), 3, expected);
}

#[test]
fn a_crash_keeps_what_was_counted() {
    // One match in `gst`: the first slot of the second block of 32.
    let count = r"printf '\001' | dd of=$dir/slots.bin bs=1 seek=1280 conv=notrunc 2>/dev/null";
    let place = Place::with_fake_jdk(&format!("{STARTED}; {count}; kill -SEGV $$"));
    expect(place.run(USERS), 4, "killed by signal 11");
    let table = place.run("render out --format table");
    // The agent ended before it could write the rewriter's counts.
    let unknown = "unknown how many methods were hooked";
    assert!(table.stdout.contains(unknown), "{table:#?}");
    let report = place.report("out");
    assert_eq!(report.layers[1].matches, 1);
    assert!(report.complete);
}

#[test]
fn a_hang_is_ended() {
    let words = "run --out out --deadline 1 -- Prog";
    expect(with_fake("exec sleep 600", words), 4, "did not end in time");
}

#[test]
fn no_data_is_no_success() {
    expect(with_fake(STARTED, USERS), 3, "no layer has any data");
}
