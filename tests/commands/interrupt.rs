//! If the program is killed, or its disk is full, the report is complete or says that it is not.

use crate::support::{Deadline, fake_jdk, report, stackwitness, until, wait};
use oracle::report::Exit;
use std::path::Path;
use std::process::{Child, Command};

const SCENARIO: &str = "
name = 'x'
layers = ['gst']
[[program]]
name = 'short'
java = ['Short']
[[program]]
name = 'long'
java = ['Long']
";

/// The short program ends. The long program waits to be ended. Both have counted.
const SCRIPT: &str = r#"
printf '\001' | dd of=$dir/slots.bin bs=1 seek=1280 conv=notrunc 2>/dev/null
echo '{"started":{"home":"h","vendor":"v","version":"17","vm":"VM","asgct":true}}' > $dir/records.jsonl
case $dir in *long) echo $$ > $dir/pid; exec sleep 300;; esac
"#;

fn start(dir: &Path) -> Child {
    let jdk = fake_jdk(dir, SCRIPT);
    std::fs::write(dir.join("x.toml"), SCENARIO).unwrap();
    stackwitness()
        .args(["run", "--jdk"])
        .arg(jdk)
        .arg("--scenario")
        .arg(dir.join("x.toml"))
        .arg("--out")
        .arg(dir.join("out"))
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

/// The process of the long program, once it runs.
fn target(dir: &Path) -> u32 {
    let file = dir.join("out/runs/002-long/pid");
    until("the start of the long program", || pid(&file))
}

/// The number in a file that a program has written, once the file is complete.
fn pid(file: &Path) -> Option<u32> {
    let text = std::fs::read_to_string(file).ok()?;
    text.strip_suffix('\n')?.parse().ok()
}

/// The exit code of the tool, once it has ended.
fn ended(tool: &mut Child) -> Option<i32> {
    wait(tool, &Deadline::new("the tool"))
}

fn kill(signal: &str, pid: u32) {
    let status = Command::new("kill")
        .args([signal, &pid.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

/// Waits until a process has ended.
fn ends(pid: u32) {
    let stat = format!("/proc/{pid}/stat");
    until("a target whose tool has ended", || {
        let stat = std::fs::read_to_string(&stat).unwrap_or_default();
        (stat.is_empty() || stat.contains(") Z ")).then_some(())
    });
}

#[test]
fn an_interrupt_ends_the_target_and_writes_the_report() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let dir = tempfile::tempdir().unwrap();
        let mut tool = start(dir.path());
        let target = target(dir.path());
        kill(signal, tool.id());
        assert_eq!(ended(&mut tool), Some(code));
        ends(target);
        let report = report(&dir.path().join("out"));
        assert!(!report.complete);
        assert_eq!(report.runs[0].exit, Exit::Code(0));
        assert_eq!(report.runs[1].exit, Exit::Interrupted);
        assert_eq!(report.layers[0].matches, 2, "what was counted counts");
    }
}

#[test]
fn killing_the_tool_leaves_a_partial_report_and_no_target() {
    let dir = tempfile::tempdir().unwrap();
    let mut tool = start(dir.path());
    let target = target(dir.path());
    tool.kill().unwrap();
    tool.wait().unwrap();
    ends(target);
    let out = dir.path().join("out");
    let report = report(&out);
    assert!(!report.complete);
    assert_eq!(report.runs.len(), 1);
    // The remaining counts are in the records.
    let again = scenarios::collect::recollect(&out).unwrap();
    assert_eq!((again.runs.len(), again.complete), (2, false));
    assert_eq!(again.runs[1].exit, Exit::Interrupted);
    assert_eq!(again.layers[0].matches, 2);
}

#[test]
fn killing_the_target_is_a_crash_with_its_data() {
    let dir = tempfile::tempdir().unwrap();
    let mut tool = start(dir.path());
    kill("-KILL", target(dir.path()));
    assert_eq!(ended(&mut tool), Some(4));
    let report = report(&dir.path().join("out"));
    assert!(report.complete);
    assert_eq!(report.runs[1].exit, Exit::Signal(9));
    assert_eq!(report.layers[0].matches, 2);
}

#[test]
fn a_full_disk_leaves_no_broken_report() {
    // A limit on the size of files imitates a full disk: writes fail after some bytes.
    let dir = tempfile::tempdir().unwrap();
    let jdk = fake_jdk(dir.path(), SCRIPT);
    let scenario = SCENARIO.replace("long", "other");
    std::fs::write(dir.path().join("x.toml"), scenario).unwrap();
    let out = dir.path().join("out");
    let command = |limit: &str| {
        let script = format!("{limit} exec \"$0\" run --jdk \"$1\" --scenario \"$2\" --out \"$3\"");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &script, env!("CARGO_BIN_EXE_stackwitness")])
            .arg(&jdk)
            .arg(dir.path().join("x.toml"))
            .arg(&out)
            .env("CI", "true");
        crate::support::run(&mut shell)
    };
    assert_eq!(command("").code, Some(0));
    let before = std::fs::read(out.join("report.json")).unwrap();
    // In blocks of 512 bytes: enough for the class files, and not for a report.
    let full = command("trap '' XFSZ; ulimit -f 3;");
    assert_eq!(full.code, Some(2), "{full:#?}");
    assert!(full.stderr.contains("cannot write to"), "{}", full.stderr);
    // The last successful write may have been incomplete.
    let after = std::fs::read(out.join("report.json")).unwrap();
    assert!(after == before || !report(&out).complete, "{full:#?}");
}

#[test]
fn a_users_program_decides_itself_what_an_interrupt_means() {
    // This program tidies up and ends with an exit code of its own.
    let script = r#"
echo '{"started":{"home":"h","vendor":"v","version":"17","vm":"VM","asgct":true}}' > $dir/records.jsonl
echo '{"rewriting":{"classes_hooked":1,"methods_hooked":1,"classes_left":{},"methods_left":{},"application_classes":1,"repairs":0}}' >> $dir/records.jsonl
printf '\001' | dd of=$dir/slots.bin bs=1 seek=1280 conv=notrunc 2>/dev/null
trap 'echo tidied; exit 42' INT
echo $$ > $dir/pid
while :; do sleep 0.1; done
"#;
    let dir = tempfile::tempdir().unwrap();
    let jdk = fake_jdk(dir.path(), script);
    let out = dir.path().join("out");
    let mut tool = stackwitness();
    tool.args(["run", "--jdk"])
        .arg(jdk)
        .arg("--out")
        .arg(&out)
        .args(["--", "Prog"]);
    let tool = std::thread::spawn(move || crate::support::run(&mut tool));
    let pid_file = out.join("runs/001-program/pid");
    let target = until("the start of the program", || pid(&pid_file));
    kill("-INT", parent(target));
    let output = tool.join().unwrap();
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(0), "tidied\n"),
        "{output:#?}"
    );
    let report = report(&out);
    assert_eq!(report.runs[0].exit, Exit::Code(42));
    assert!(report.complete);
}

/// The parent of a process.
fn parent(pid: u32) -> u32 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("PPid:"))
        .unwrap();
    line.trim().parse().unwrap()
}
