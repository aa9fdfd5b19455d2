//! A folder of results: one owner, one session, and one JVM for each run.

use crate::support::{COUNTS_ONE, Deadline, Place, fake_jdk, jdks, limited, run, until, wait};
use std::fs;
use std::process::{Child, Stdio};

/// The program named `long` waits to be ended.
const WAITS: &str = "case $dir in *long) echo $$ > $dir/pid; exec sleep 600;; esac";

/// `run` of the scenario of [`place`] into the folder `out`.
const RUN: &str = "run --scenario x.toml --out out";

/// A folder with programs that count one match in `gst` and end.
fn place(programs: &[&str]) -> Place {
    let place = Place::with_fake_jdk(&format!("{COUNTS_ONE}\n{WAITS}"));
    choose(&place, programs);
    place
}

/// Writes a scenario with these programs.
fn choose(place: &Place, programs: &[&str]) {
    let programs = programs.iter();
    let programs = programs.map(|name| format!("[[program]]\nname = '{name}'\njava = ['X']\n"));
    let programs: String = programs.collect();
    place.write(
        "x.toml",
        format!("name = 'x'\nlayers = ['gst']\n{programs}"),
    );
}

/// Starts `run` of two programs, of which the second does not end.
fn start(place: &Place) -> Child {
    choose(place, &["short", "long"]);
    let mut command = place.command(RUN);
    let tool = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let pid = place.path("out/runs/002-long/pid");
    until("the start of the long program", || {
        fs::read_to_string(&pid)
            .ok()
            .filter(|text| text.ends_with('\n'))
    });
    tool.unwrap()
}

#[test]
fn two_sessions_do_not_share_a_folder() {
    let place = place(&[]);
    let mut first = start(&place);
    choose(&place, &["short"]);
    let second = place.run(RUN).ended(2);
    let expected = format!("is in use by process {} (`", first.id());
    assert!(second.stderr.contains(&expected), "{second:#?}");
    let merge = place.run("merge out --out out").ended(2);
    assert!(merge.stderr.contains(&expected), "{merge:#?}");

    first.kill().unwrap();
    wait(&mut first, &Deadline::new("the first session"));
    // The owner has ended, and the folder is free.
    place.run(RUN).ended(0);
}

#[test]
fn a_report_from_records_has_no_runs_of_an_earlier_session() {
    let place = place(&["a", "b", "c"]);
    place.run(RUN).ended(0);
    choose(&place, &["d"]);
    place.run(RUN).ended(0);
    let again = scenarios::collect::recollect(&place.path("out")).unwrap();
    assert_eq!(again, place.report("out"));
    let names: Vec<_> = again.runs.iter().map(|run| &run.scenario).collect();
    assert_eq!(names, ["d"]);
    assert_eq!(again.layers[0].checks, 1);
}

#[test]
fn every_command_says_where_the_runs_of_a_killed_session_are() {
    const COMMANDS: [&str; 4] = [
        "gate out",
        "compare out out",
        "merge out --out merged",
        "render out",
    ];
    let place = place(&["old"]);
    // Files of an earlier session must not count for the new session.
    place.run(RUN).ended(0);
    let mut tool = start(&place);
    let expect = |expected: &str| {
        for words in COMMANDS {
            let output = place.run(words);
            assert!(output.stderr.contains(expected), "{words} {output:#?}");
        }
    };
    expect(&format!("is still running, by process {}", tool.id()));
    tool.kill().unwrap();
    wait(&mut tool, &Deadline::new("the session"));
    expect(
        "was killed, and 1 of its runs are not in its report; \
         `stackwitness render --from-records out` reads what they left",
    );
    let again = place.run("render --from-records out");
    assert!(!again.stderr.contains("was killed"), "{again:#?}");
    assert!(again.stdout.contains("long"), "{again:#?}");
}

#[test]
fn a_full_disk_keeps_the_table() {
    // A limit on the size of files imitates a full disk: 1,024 blocks of 512 bytes are enough for
    // class files and counts, and not for a report with so many mismatches.
    let name = "t".repeat(300);
    let place = place(&["first"]);
    place.run(RUN).ended(0);
    let script = format!(
        "{COUNTS_ONE}\nfor i in $(seq 4000); do echo '{{\"mismatch\":{{\"layer\":\"gst\",\"verdict\":\"wrong\",\"reason\":\"x\",\"thread\":\"{name}\",\"walker\":[],\"truth\":[],\"at_frame\":0}}}}'; done >> $dir/records.jsonl"
    );
    fake_jdk(&place.path(""), &script);
    choose(&place, &["short"]);
    let full = run(&mut limited(&place.command(RUN), "ulimit -f 1024")).ended(2);
    assert!(full.stderr.contains("cannot write to"), "{full:#?}");
    let is_of_gst = |line: &&str| line.split_whitespace().next() == Some("gst");
    let line = full.stdout.lines().find(is_of_gst);
    let line = line.unwrap_or_else(|| panic!("{full:#?}"));
    assert!(line.split_whitespace().any(|word| word == "1"), "{line}");
    let again = place.run("render --from-records out").ended(0);
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
        let place = Place::on(&jdk);
        if !place.compiles("Parent", PARENT) {
            continue;
        }
        let output = place.run("run --out out -- -cp . Parent x");
        assert!(matches!(output.code, Some(0 | 1)), "{output:#?}");
        assert_eq!(output.stdout, "child true\nended with 0\n", "{output:#?}");
        let records = place.read("out/runs/001-program/records.jsonl");
        let count = |start: &str| {
            records
                .lines()
                .filter(|line| line.starts_with(start))
                .count()
        };
        assert_eq!((count("{\"started\""), count("\"ended\"")), (1, 1));
    }
}
