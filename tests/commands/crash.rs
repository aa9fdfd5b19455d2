//! The messages about a JVM that crashed, or that ended at once.

use crate::support::{Output, jdks, report, run, stackwitness};
use oracle::report::Exit;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A program that ends as its argument says.
const PROGRAM: &str = r#"
    public class Ends {
        static byte[][] all = new byte[1 << 20][];
        static int work(int n) { return n % 3; }
        public static void main(String[] args) throws Exception {
            int sum = 0;
            for (int i = 0; i < 300_000; i++) sum += work(i);
            System.out.println("runs " + sum);
            if (args[0].equals("crash")) {
                String pid = Long.toString(ProcessHandle.current().pid());
                new ProcessBuilder("kill", "-SEGV", pid).start();
                Thread.sleep(600_000);
            }
            for (int i = 0; ; i++) all[i] = new byte[1 << 20];
        }
    }
"#;

/// Runs the program with options of the VM; `None` if the JDK has no compiler.
fn ends(jdk: &Path, dir: &Path, options: &[String], how: &str) -> Option<Output> {
    let javac = jdk.join("bin/javac");
    if !javac.exists() {
        println!("skipped: {} has no compiler", jdk.display());
        return None;
    }
    let source = dir.join("Ends.java");
    fs::write(&source, PROGRAM).unwrap();
    run(Command::new(javac).arg("-d").arg(dir).arg(source)).ok();
    let mut tool = stackwitness();
    tool.args(["run", "--jdk"]).arg(jdk);
    tool.arg("--out").arg(dir.join("out")).arg("--");
    tool.arg("-Xmx64m").args(options);
    Some(run(tool.arg("-cp").arg(dir).args(["Ends", how])))
}

#[test]
fn the_report_of_a_crash_is_found_where_the_user_wants_it() {
    for jdk in jdks() {
        let dir = tempfile::tempdir().unwrap();
        let file = format!("-XX:ErrorFile={}/mine-%p.log", dir.path().display());
        // Without a core dump the JVM ends with exit code 1.
        let options = [file, "-XX:-CreateCoredumpOnCrash".into()];
        let Some(output) = ends(&jdk, dir.path(), &options, "crash") else {
            continue;
        };
        assert_eq!(output.code, Some(4), "{output:#?}");
        let report = report(&dir.path().join("out"));
        assert_eq!(report.runs[0].exit, Exit::Signal(11));
        let notes = report.runs[0].notes.join("\n");
        assert!(notes.contains("crash: SIGSEGV"), "{notes}");
        let mine = fs::read_dir(dir.path()).unwrap().flatten();
        let mut mine = mine.map(|file| file.file_name().into_string().unwrap());
        assert!(
            mine.any(|name| name.starts_with("mine-")),
            "the user's own stays"
        );
    }
}

#[test]
fn a_program_out_of_memory_did_start() {
    for jdk in jdks() {
        let dir = tempfile::tempdir().unwrap();
        let options = ["-XX:+ExitOnOutOfMemoryError".to_owned()];
        let Some(output) = ends(&jdk, dir.path(), &options, "fill") else {
            continue;
        };
        assert!(output.stdout.contains("runs "), "{output:#?}");
        assert!(!output.stderr.contains("did not start"), "{output:#?}");
        let report = report(&dir.path().join("out"));
        assert_eq!(report.runs[0].exit, Exit::Code(3));
        assert_eq!(report.runs[0].invalid, None);
        assert!(matches!(output.code, Some(0 | 1)), "{output:#?}");
    }
}
