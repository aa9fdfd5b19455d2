//! The messages about a JVM that crashed, or that ended at once.

use crate::support::{Place, jdks};
use oracle::report::Exit;
use std::fs;

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

/// A place for each JDK that has a compiler, with the compiled program.
fn places() -> impl Iterator<Item = Place> {
    let places = jdks().into_iter().map(|jdk| Place::on(&jdk));
    places.filter(|place| place.compiles("Ends", PROGRAM))
}

#[test]
fn the_report_of_a_crash_is_found_where_the_user_wants_it() {
    for place in places() {
        let file = place.path("mine-%p.log");
        // Without a core dump the JVM ends with exit code 1.
        let words = format!(
            "run --out out -- -Xmx64m -XX:ErrorFile={} -XX:-CreateCoredumpOnCrash -cp . Ends crash",
            file.display()
        );
        place.run(&words).ended(4);
        let report = place.report("out");
        assert_eq!(report.runs[0].exit, Exit::Signal(11));
        let notes = report.runs[0].notes.join("\n");
        assert!(notes.contains("crash: SIGSEGV"), "{notes}");
        let mut names = fs::read_dir(place.path("")).unwrap().flatten();
        let is_mine = |file: fs::DirEntry| file.file_name().to_string_lossy().starts_with("mine-");
        assert!(names.any(is_mine), "the user's own stays");
    }
}

#[test]
fn a_program_out_of_memory_did_start() {
    for place in places() {
        let output =
            place.run("run --out out -- -Xmx64m -XX:+ExitOnOutOfMemoryError -cp . Ends fill");
        assert!(output.stdout.contains("runs "), "{output:#?}");
        assert!(!output.stderr.contains("did not start"), "{output:#?}");
        let report = place.report("out");
        assert_eq!(report.runs[0].exit, Exit::Code(3));
        assert_eq!(report.runs[0].invalid, None);
        assert!(matches!(output.code, Some(0 | 1)), "{output:#?}");
    }
}
