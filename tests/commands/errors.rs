//! Each error gives one clear message and the exit code of its kind.

use crate::support::{fake_jdk, report, run, stackwitness};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const STARTED: &str = r#"echo '{"started":{"home":"h","vendor":"v","version":"17","vm":"Other VM","asgct":ASGCT}}' > $dir/records.jsonl"#;

/// Runs a command with a fake JDK whose `java` is `script`. Returns exit code and standard error.
fn with_fake(script: &str, more: &[&str]) -> (Option<i32>, String, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let home = fake_jdk(dir.path(), script);
    let output = run(stackwitness()
        .args(["run", "--jdk"])
        .arg(home)
        .arg("--out")
        .arg(dir.path().join("out"))
        .args(more));
    (output.code, output.stderr, dir)
}

/// The program of a user.
const USERS: &[&str] = &["--", "Prog"];

fn one_message(code: Option<i32>, stderr: &str, expected: (i32, &str)) {
    assert_eq!(code, Some(expected.0), "{stderr}");
    assert!(stderr.contains(expected.1), "{stderr}");
}

#[test]
fn no_jdk() {
    let nowhere = tempfile::tempdir().unwrap();
    let output = run(stackwitness().args(["run", "--jdk"]).arg(nowhere.path()));
    one_message(
        output.code,
        &output.stderr,
        (2, "there is no bin/java in it"),
    );
    assert_eq!(output.stderr.lines().count(), 1);

    let output = run(stackwitness().arg("run").env("JAVA_HOME", nowhere.path()));
    one_message(output.code, &output.stderr, (2, "(from JAVA_HOME)"));
}

#[test]
fn a_folder_that_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let home = fake_jdk(dir.path(), "exit 0");
    let file = dir.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let output = run(stackwitness()
        .args(["run", "--jdk"])
        .arg(home)
        .arg("--out")
        .arg(&file));
    one_message(
        output.code,
        &output.stderr,
        (2, "name another place with -o"),
    );
    assert_eq!(output.stderr.lines().count(), 1);
}

#[test]
fn no_agent() {
    let dir = tempfile::tempdir().unwrap();
    let home = fake_jdk(dir.path(), "exit 0");
    let output = run(stackwitness()
        .env("STACKWITNESS_AGENT", "/no/such/agent.so")
        .args(["run", "--jdk"])
        .arg(home)
        .arg("--out")
        .arg(dir.path().join("out")));
    one_message(
        output.code,
        &output.stderr,
        (3, "/no/such/agent.so (from STACKWITNESS_AGENT)"),
    );
}

#[test]
fn an_old_jdk() {
    let dir = tempfile::tempdir().unwrap();
    let home = fake_jdk(dir.path(), "exit 0");
    fs::write(home.join("release"), "JAVA_VERSION=\"11.0.24\"\n").unwrap();
    let mut command = stackwitness();
    command.args(["run", "--jdk"]).arg(&home);
    let output = run(command.arg("--out").arg(dir.path().join("out")));
    let expected = "is JDK 11.0.24; the oldest that can be judged is 17";
    one_message(output.code, &output.stderr, (2, expected));
    assert_eq!(output.stderr.lines().count(), 1);

    // No file in the folder gives the version, but the VM does.
    let script = STARTED
        .replace("ASGCT", "true")
        .replace("\"17\"", "\"11.0.24+8\"");
    let (code, stderr, _dir) = with_fake(&script, USERS);
    one_message(code, &stderr, (3, "the JVM is of version 11.0.24+8"));
}

#[test]
fn a_java_that_cannot_be_executed() {
    let dir = tempfile::tempdir().unwrap();
    let home = fake_jdk(dir.path(), "");
    fs::set_permissions(home.join("bin/java"), Permissions::from_mode(0o644)).unwrap();
    let output = run(stackwitness()
        .args(["run", "--jdk"])
        .arg(home)
        .arg("--out")
        .arg(dir.path().join("out"))
        .args(USERS));
    one_message(
        output.code,
        &output.stderr,
        (3, "java could not be started"),
    );
}

#[test]
fn a_jvm_without_asgct() {
    let script = STARTED.replace("ASGCT", "false");
    let (code, stderr, _dir) = with_fake(&script, USERS);
    one_message(
        code,
        &stderr,
        (
            3,
            "Other VM has no AsyncGetCallTrace; choose a HotSpot JDK with --jdk",
        ),
    );
}

#[test]
fn an_agent_that_gave_up() {
    let script = STARTED.replace("ASGCT", "true")
        + r#"; echo '{"invalid":"it panicked"}' >> $dir/records.jsonl"#;
    let (code, stderr, _dir) = with_fake(&script, USERS);
    one_message(code, &stderr, (3, "the agent gave up: it panicked"));
}

#[test]
fn a_crash_keeps_what_was_counted() {
    // One match in `gst`: the first slot of the second block of 32.
    let count = r"printf '\001' | dd of=$dir/slots.bin bs=1 seek=1280 conv=notrunc 2>/dev/null";
    let script = format!(
        "{}; {count}; kill -SEGV $$",
        STARTED.replace("ASGCT", "true")
    );
    let (code, stderr, dir) = with_fake(&script, USERS);
    one_message(code, &stderr, (4, "killed by signal 11"));
    let out = dir.path().join("out");
    let table = run(stackwitness()
        .arg("render")
        .arg(&out)
        .args(["--format", "table"]));
    // The agent ended before it could write the rewriter's counts.
    let unknown = "unknown how many methods were hooked";
    assert!(table.stdout.contains(unknown), "{table:#?}");
    let report = report(&out);
    assert_eq!(report.layers[1].matches, 1);
    assert!(report.complete);
}

#[test]
fn a_hang_is_ended() {
    let (code, stderr, _dir) = with_fake("exec sleep 600", &["--deadline", "1", "--", "Prog"]);
    one_message(code, &stderr, (4, "did not end in time"));
}

#[test]
fn no_data_is_no_success() {
    let (code, stderr, _dir) = with_fake(&STARTED.replace("ASGCT", "true"), USERS);
    one_message(code, &stderr, (3, "no layer has any data"));
}

#[test]
fn a_report_of_before_stays_until_a_new_one_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let home = fake_jdk(dir.path(), "exit 0");
    let out = dir.path().join("out");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("report.json"), "the old one").unwrap();
    let mut command = stackwitness();
    command.env("STACKWITNESS_AGENT", "/no/such/agent.so");
    run(command
        .args(["run", "--jdk"])
        .arg(home)
        .arg("--out")
        .arg(&out));
    assert_eq!(
        fs::read_to_string(out.join("report.json")).unwrap(),
        "the old one"
    );
    assert!(Path::new(&out).exists());
}
