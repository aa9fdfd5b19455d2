//! A folder of results: one owner, one session, and one JVM for each run.

use crate::support::{Deadline, fake_jdk, jdks, report, run, stackwitness, until, wait};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A program that counts one match in `gst` and ends; the one named `long` waits to be ended.
const COUNTS: &str = r#"
printf '\001' | dd of=$dir/slots.bin bs=1 seek=1280 conv=notrunc 2>/dev/null
echo '{"started":{"home":"h","vendor":"v","version":"17","vm":"VM","asgct":true}}' > $dir/records.jsonl
case $dir in *long) echo $$ > $dir/pid; exec sleep 600;; esac
"#;

/// A scenario with these programs.
fn scenario(dir: &Path, programs: &[&str]) -> PathBuf {
    let programs = programs.iter();
    let programs = programs.map(|name| format!("[[program]]\nname = '{name}'\njava = ['X']\n"));
    let text = format!(
        "name = 'x'\nlayers = ['gst']\n{}",
        programs.collect::<String>()
    );
    let file = dir.join("x.toml");
    fs::write(&file, text).unwrap();
    file
}

/// `run` of these programs into the folder `out` of `dir`.
fn command(dir: &Path, programs: &[&str]) -> Command {
    let mut command = stackwitness();
    command
        .args(["run", "--jdk"])
        .arg(fake_jdk(dir, COUNTS))
        .arg("--scenario")
        .arg(scenario(dir, programs))
        .arg("--out")
        .arg(dir.join("out"));
    command
}

/// Starts `run` of two programs, of which the second does not end.
fn start(dir: &Path) -> Child {
    let mut command = command(dir, &["short", "long"]);
    let tool = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let pid = dir.join("out/runs/002-long/pid");
    until("the start of the long program", || {
        fs::read_to_string(&pid)
            .ok()
            .filter(|text| text.ends_with('\n'))
    });
    tool.unwrap()
}

#[test]
fn two_sessions_do_not_share_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = start(dir.path());
    let second = run(&mut command(dir.path(), &["short"]));
    assert_eq!(second.code, Some(2), "{second:#?}");
    let expected = format!("is in use by process {} (`", first.id());
    assert!(second.stderr.contains(&expected), "{second:#?}");
    let merge = run(stackwitness()
        .arg("merge")
        .arg(dir.path().join("out"))
        .arg("--out")
        .arg(dir.path().join("out")));
    assert_eq!(merge.code, Some(2), "{merge:#?}");
    assert!(merge.stderr.contains(&expected), "{merge:#?}");

    first.kill().unwrap();
    wait(&mut first, &Deadline::new("the first session"));
    // The owner has ended, and the folder is free.
    let third = run(&mut command(dir.path(), &["short"]));
    assert_eq!(third.code, Some(0), "{third:#?}");
}

#[test]
fn a_report_from_records_has_no_runs_of_an_earlier_session() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(
        run(&mut command(dir.path(), &["a", "b", "c"])).code,
        Some(0)
    );
    assert_eq!(run(&mut command(dir.path(), &["d"])).code, Some(0));
    let out = dir.path().join("out");
    let again = scenarios::collect::recollect(&out).unwrap();
    assert_eq!(again, report(&out));
    let names: Vec<_> = again.runs.iter().map(|run| &run.scenario).collect();
    assert_eq!(names, ["d"]);
    assert_eq!(again.layers[0].checks, 1);
}

#[test]
fn every_command_says_where_the_runs_of_a_killed_session_are() {
    let dir = tempfile::tempdir().unwrap();
    // Files of an earlier session must not count for the new session.
    assert_eq!(run(&mut command(dir.path(), &["old"])).code, Some(0));
    let out = dir.path().join("out");
    let mut tool = start(dir.path());
    let commands = |out: &Path| {
        let [gate, compare, merge, render] = [(); 4].map(|()| stackwitness());
        let mut all = [gate, compare, merge, render];
        all[0].args(["gate"]).arg(out);
        all[1].arg("compare").args([out, out]);
        all[2]
            .arg("merge")
            .arg(out)
            .arg("--out")
            .arg(dir.path().join("merged"));
        all[3].arg("render").arg(out);
        all
    };
    for mut command in commands(&out) {
        let output = run(&mut command);
        let expected = format!("is still running, by process {}", tool.id());
        assert!(output.stderr.contains(&expected), "{command:?} {output:#?}");
    }
    tool.kill().unwrap();
    wait(&mut tool, &Deadline::new("the session"));
    for mut command in commands(&out) {
        let output = run(&mut command);
        let expected = format!(
            "was killed, and 1 of its runs are not in its report; \
             `stackwitness render --from-records {}` reads what they left",
            out.canonicalize().unwrap().display()
        );
        assert!(output.stderr.contains(&expected), "{command:?} {output:#?}");
    }
    let again = run(stackwitness().args(["render", "--from-records"]).arg(&out));
    assert!(!again.stderr.contains("was killed"), "{again:#?}");
    assert!(again.stdout.contains("long"), "{again:#?}");
}

#[test]
fn a_full_disk_keeps_the_table() {
    // A limit on the size of files imitates a full disk: 1,024 blocks of 512 bytes are enough for
    // class files and counts, and not for a report with so many mismatches.
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(run(&mut command(dir.path(), &["first"])).code, Some(0));
    let mut whole = command(dir.path(), &["short"]);
    let jdk = fake_jdk(
        dir.path(),
        &format!(
            "{COUNTS}\nfor i in $(seq 4000); do echo '{{\"mismatch\":{{\"layer\":\"gst\",\"verdict\":\"wrong\",\"reason\":\"x\",\"thread\":\"{}\",\"walker\":[],\"truth\":[],\"at_frame\":0}}}}'; done >> $dir/records.jsonl",
            "t".repeat(300)
        ),
    );
    whole.arg("--jdk").arg(jdk);
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 1024; exec \"$@\"", "sh"]);
    shell.arg(whole.get_program()).args(whole.get_args());
    let full = run(shell.env("CI", "true"));
    assert_eq!(full.code, Some(2), "{full:#?}");
    assert!(full.stderr.contains("cannot write to"), "{full:#?}");
    let is_of_gst = |line: &&str| line.split_whitespace().next() == Some("gst");
    let line = full.stdout.lines().find(is_of_gst);
    let line = line.unwrap_or_else(|| panic!("{full:#?}"));
    assert!(line.split_whitespace().any(|word| word == "1"), "{line}");
    let again = run(stackwitness()
        .args(["render", "--from-records"])
        .arg(dir.path().join("out")));
    assert_eq!(again.code, Some(0), "{again:#?}");
    assert!(
        again.stdout.lines().any(|line| is_of_gst(&line)),
        "{again:#?}"
    );
}

/// Starts a JVM that gets the agent of this one through `JAVA_TOOL_OPTIONS`.
const PARENT: &str = r#"
    import java.util.*;

    public class Parent {
        public static void main(String[] args) throws Exception {
            int sum = 0;
            for (int i = 0; i < 200_000; i++) sum += work(i);
            if (args.length == 0) {
                System.out.println("child " + (sum != 1));
                return;
            }
            ProcessHandle.Info own = ProcessHandle.current().info();
            String agent = Arrays.stream(own.arguments().get())
                .filter(arg -> arg.startsWith("-agentpath:")).findFirst().get();
            ProcessBuilder child = new ProcessBuilder(
                own.command().get(), "-cp", System.getProperty("java.class.path"), "Parent");
            child.environment().put("JAVA_TOOL_OPTIONS", agent);
            child.redirectOutput(ProcessBuilder.Redirect.INHERIT);
            System.out.println("ended with " + child.start().waitFor());
        }
        static int work(int n) { return n % 3; }
    }
"#;

#[test]
fn a_jvm_that_inherits_the_agent_leaves_the_run_alone() {
    for jdk in jdks() {
        let javac = jdk.join("bin/javac");
        if !javac.exists() {
            println!("skipped: {} has no compiler", jdk.display());
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("Parent.java");
        fs::write(&source, PARENT).unwrap();
        run(Command::new(javac).arg("-d").arg(dir.path()).arg(source)).ok();
        let out = dir.path().join("out");
        let mut tool = stackwitness();
        tool.args(["run", "--jdk"]).arg(&jdk).arg("--out").arg(&out);
        tool.args(["--", "-cp"])
            .arg(dir.path())
            .args(["Parent", "x"]);
        let output = run(&mut tool);
        assert!(matches!(output.code, Some(0 | 1)), "{output:#?}");
        assert_eq!(output.stdout, "child true\nended with 0\n", "{output:#?}");
        let records = fs::read_to_string(out.join("runs/001-program/records.jsonl")).unwrap();
        let count = |start: &str| {
            records
                .lines()
                .filter(|line| line.starts_with(start))
                .count()
        };
        assert_eq!((count("{\"started\""), count("\"ended\"")), (1, 1));
    }
}
