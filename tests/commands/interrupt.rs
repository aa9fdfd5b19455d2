//! If the program is killed, or its disk is full, the report is complete or says that it is not.

use crate::support::{COUNTS_ONE, Deadline, Place, is_gone, limited, run, signal, until, wait};
use oracle::report::Exit;
use std::path::Path;
use std::process::{Child, Stdio};

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
const WAITS: &str = "case $dir in *long) echo $$ > $dir/pid; exec sleep 300;; esac";

const RUN: &str = "run --scenario x.toml --out out";

fn place() -> Place {
    let place = Place::with_fake_jdk(&format!("{COUNTS_ONE}\n{WAITS}"));
    place.write("x.toml", SCENARIO);
    place
}

fn start(place: &Place) -> Child {
    place.command(RUN).stdout(Stdio::null()).spawn().unwrap()
}

/// The process of the long program, once it runs.
fn target(place: &Place) -> u32 {
    let file = place.path("out/runs/002-long/pid");
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

/// Waits until a process has ended.
fn ends(pid: u32) {
    until("a target whose tool has ended", || {
        is_gone(pid).then_some(())
    });
}

#[test]
fn an_interrupt_ends_the_target_and_writes_the_report() {
    for (name, code) in [("-INT", 130), ("-TERM", 143)] {
        let place = place();
        let mut tool = start(&place);
        let target = target(&place);
        signal(name, tool.id());
        assert_eq!(ended(&mut tool), Some(code));
        ends(target);
        let report = place.report("out");
        assert!(!report.complete);
        assert_eq!(report.runs[0].exit, Exit::Code(0));
        assert_eq!(report.runs[1].exit, Exit::Interrupted);
        assert_eq!(report.layers[0].matches, 2, "what was counted counts");
    }
}

/// The file `pid` of a program in a folder of results.
fn pid_below(folder: &Path) -> Option<u32> {
    let entries = std::fs::read_dir(folder).ok()?;
    let paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.iter().find_map(|path| {
        if path.is_dir() {
            return pid_below(path);
        }
        path.ends_with("pid").then(|| pid(path)).flatten()
    })
}

#[test]
fn an_interrupted_check_has_no_answer() {
    let place = place();
    place.write(
        "x.toml",
        "name = 'x'\nlayers = ['gst']\n[[program]]\nname = 'long'\njava = ['Long']\n",
    );
    let mut command = place.command("check --base jdk --scenario x.toml --out out jdk");
    let mut tool = command.stdout(Stdio::null()).spawn().unwrap();
    let target = until("the start of a program", || {
        assert_eq!(tool.try_wait().unwrap(), None, "the tool has ended");
        pid_below(&place.path("out"))
    });
    signal("-INT", tool.id());
    assert_eq!(ended(&mut tool), Some(130));
    ends(target);
}

#[test]
fn killing_the_tool_leaves_a_partial_report_and_no_target() {
    let place = place();
    let mut tool = start(&place);
    let target = target(&place);
    tool.kill().unwrap();
    tool.wait().unwrap();
    ends(target);
    let report = place.report("out");
    assert!(!report.complete);
    assert_eq!(report.runs.len(), 1);
    // The remaining counts are in the records.
    let again = scenarios::collect::recollect(&place.path("out")).unwrap();
    assert_eq!((again.runs.len(), again.complete), (2, false));
    assert_eq!(again.runs[1].exit, Exit::Interrupted);
    assert_eq!(again.layers[0].matches, 2);
}

#[test]
fn killing_the_target_is_a_crash_with_its_data() {
    let place = place();
    let mut tool = start(&place);
    signal("-KILL", target(&place));
    assert_eq!(ended(&mut tool), Some(4));
    let report = place.report("out");
    assert!(report.complete);
    assert_eq!(report.runs[1].exit, Exit::Signal(9));
    assert_eq!(report.layers[0].matches, 2);
}

#[test]
fn a_full_disk_leaves_no_broken_report() {
    // A limit on the size of files imitates a full disk: writes fail after some bytes.
    let place = place();
    place.write("x.toml", SCENARIO.replace("long", "other"));
    place.run(RUN).ended(0);
    let before = place.read("out/report.json");
    // In blocks of 512 bytes: enough for the class files, and not for a report.
    let full = run(&mut limited(&place.command(RUN), "ulimit -f 3")).ended(2);
    assert!(full.stderr.contains("cannot write to"), "{full:#?}");
    // The last successful write may have been incomplete.
    let after = place.read("out/report.json");
    assert!(
        after == before || !place.report("out").complete,
        "{full:#?}"
    );
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
    let place = Place::with_fake_jdk(script);
    let mut tool = place.command("run --out out -- Prog");
    let tool = std::thread::spawn(move || run(&mut tool));
    let pid_file = place.path("out/runs/001-program/pid");
    let target = until("the start of the program", || pid(&pid_file));
    signal("-INT", parent(target));
    let output = tool.join().unwrap();
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(0), "tidied\n"),
        "{output:#?}"
    );
    let report = place.report("out");
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
