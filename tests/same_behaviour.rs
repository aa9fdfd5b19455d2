//! Hooked programs behave as before. If all classes of the program and of the JDK are hooked, the
//! program has the same output, exit code and files, interpreted and compiled.
//!
//! ```sh
//! apt-get install libecj-java jython libh2-java libxalan2-java
//! cargo test --release --test same_behaviour -- --ignored --nocapture
//! ```

mod support;

use oracle::report::Exit;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use support::{jdks, report, run, stackwitness};

const WORK_JAVA: &str = r#"
import java.util.*;
import java.util.function.*;
import java.util.stream.*;

public class Work<T extends Comparable<? super T>> {
    enum Kind { LEAF { int weigh(int x) { return x; } }, NODE { int weigh(int x) { return 2 * x + 1; } };
        abstract int weigh(int x); }
    interface Shape { default double area() { return 0; } }
    static class Square implements Shape { final double a; Square(double a) { this.a = a; }
        @Override public double area() { return a * a; } }
    private final Map<String, List<T>> byName = new TreeMap<>();

    T best(Collection<? extends T> all, Predicate<? super T> ok) {
        T best = null;
        for (T t : all) if (ok.test(t) && (best == null || t.compareTo(best) > 0)) best = t;
        return best;
    }
    int work(String text, int n) {
        int sum = 0;
        outer:
        for (int i = 0; i < n; i++) {
            try {
                switch (text.substring(i % text.length())) {
                    case "a": sum += Kind.LEAF.weigh(i); break;
                    case "b": continue outer;
                    default: sum ^= i * 31;
                }
                Runnable r = () -> byName.computeIfAbsent(text, k -> new ArrayList<>()).clear();
                r.run();
            } catch (IllegalStateException | ArithmeticException e) { sum--; } finally { sum++; }
        }
        return sum + IntStream.range(0, n).boxed().collect(Collectors.groupingBy(i -> i % 3)).size();
    }
}
"#;

const WORK_SQL: &str = "
create table item(id int primary key, name varchar, price double);
insert into item select x, 'name ' || mod(x * 7919, 101), x * 1.5 from system_range(1, 500);
create index by_name on item(name);
select count(*), sum(price), max(name) from item where mod(id, 7) = 3;
select a.name, count(*) n from item a join item b on a.name = b.name and a.id < b.id group by a.name order by n desc, 1 limit 5;
";

const WORK_PY: &str = "
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
class Shape(object):
    def __init__(self, a): self.a = a
    def area(self): return self.a ** 2
print(fib(15), sum(Shape(i).area() for i in range(50)))
counts = {}
for i in range(2000): counts[i % 97] = counts.get(i % 97, 0) + i
print(sorted(counts.items())[:5])
try: 1 / 0
except ZeroDivisionError as e: print(e)
";

const IN_XML: &str = "<d><r k='7'>a</r><r k='19'>b</r><r k='3'>c</r><r k='11'>d</r></d>";
const WORK_XSL: &str = r#"
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="text"/>
  <xsl:template match="/">
    <xsl:for-each select="//r">
      <xsl:sort select="@k" data-type="number" order="descending"/>
      <xsl:value-of select="concat(@k, ':', .)"/><xsl:text>
</xsl:text>
    </xsl:for-each>
  </xsl:template>
</xsl:stylesheet>
"#;

/// The interpreter alone, C1 alone, and the usual mode.
const MODES: [&str; 3] = ["-Xint", "-XX:TieredStopAtLevel=1", "-Xmixed"];

struct Program {
    name: &'static str,
    args: Vec<String>,
    files: &'static [(&'static str, &'static str)],
    modes: &'static [&'static str],
}

fn program(
    name: &'static str,
    args: &str,
    files: &'static [(&'static str, &'static str)],
) -> Program {
    Program {
        name,
        args: args.split(' ').map(Into::into).collect(),
        files,
        modes: &MODES,
    }
}

/// All programs whose jars are installed.
fn programs(fixtures: &Path) -> Vec<Program> {
    let fixture = |names: &[&str]| {
        let main = [
            "-cp",
            &fixtures.display().to_string(),
            java_fixtures::MAIN_CLASS,
        ];
        [&main, names]
            .concat()
            .into_iter()
            .map(Into::into)
            .collect()
    };
    let mut all = vec![
        Program {
            name: "fixtures",
            args: fixture(java_fixtures::FIXTURE_NAMES),
            files: &[],
            modes: &MODES,
        },
        Program {
            name: "a small fixture",
            args: fixture(&["math-parser"]),
            files: &[],
            modes: &["-Xcomp"],
        },
        program(
            "javac",
            "-m jdk.compiler/com.sun.tools.javac.Main -d classes Work.java",
            &[("Work.java", WORK_JAVA)],
        ),
    ];
    let debian = [
        (
            "ecj",
            program(
                "ecj",
                "-cp /usr/share/java/ecj.jar org.eclipse.jdt.internal.compiler.batch.Main -8 -proc:none -nowarn -d classes Work.java",
                &[("Work.java", WORK_JAVA)],
            ),
        ),
        (
            "libh2-java",
            program(
                "h2",
                "-cp /usr/share/java/h2.jar org.h2.tools.RunScript -showResults -url jdbc:h2:mem: -script work.sql",
                &[("work.sql", WORK_SQL)],
            ),
        ),
        (
            "libxalan2-java",
            program(
                "xalan",
                "-cp /usr/share/java/xalan2.jar:/usr/share/java/serializer.jar:/usr/share/java/xml-apis.jar:/usr/share/java/xercesImpl.jar org.apache.xalan.xslt.Process -IN in.xml -XSL work.xsl",
                &[("in.xml", IN_XML), ("work.xsl", WORK_XSL)],
            ),
        ),
        (
            "jython",
            program(
                "jython",
                "-Dpython.cachedir.skip=true -cp /usr/share/java/jython.jar org.python.util.jython work.py",
                &[("work.py", WORK_PY)],
            ),
        ),
    ];
    for (package, program) in debian {
        let path = program.args.iter().find(|a| a.starts_with("/usr/share"));
        let mut jars = path.into_iter().flat_map(|path| path.split(':'));
        if jars.all(|jar| Path::new(jar).exists()) {
            all.push(program)
        } else {
            println!("skipped: {}: apt-get install {package}", program.name)
        }
    }
    all
}

/// The behaviour of a program.
#[derive(Debug, PartialEq, Eq)]
struct Behaviour {
    exit: Exit,
    stdout: String,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

/// Runs a program in a folder of its own. `exit` returns the program's exit code for the command's
/// exit code.
fn behaviour(
    program: &Program,
    mut command: Command,
    exit: impl FnOnce(Option<i32>) -> Exit,
    mode: &str,
) -> Behaviour {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in program.files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    command.arg(mode).args(&program.args);
    let output = run(command.current_dir(dir.path()));
    let mut files = BTreeMap::new();
    collect(dir.path(), dir.path(), &mut files);
    Behaviour {
        exit: exit(output.code),
        stdout: output.stdout,
        files,
    }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, files)
        } else {
            let name = path.strip_prefix(root).unwrap().to_owned();
            files.insert(name, fs::read(&path).unwrap());
        }
    }
}

#[test]
#[ignore = "takes minutes"]
fn real_programs_behave_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let installed = java_fixtures::write_to(dir.path()).unwrap();
    for jdk in jdks() {
        for program in programs(&installed.fixtures_jar) {
            for mode in program.modes {
                let place = format!("{} {mode} on {}", program.name, jdk.display());
                let own = |code: Option<i32>| Exit::Code(code.expect("it ended by itself"));
                let java = Command::new(jdk.join("bin/java"));
                let plain = behaviour(&program, java, own, mode);
                assert_eq!(plain.exit, Exit::Code(0), "{place}: {plain:?}");
                assert!(
                    !plain.stdout.is_empty() || plain.files.len() > program.files.len(),
                    "{place}: nothing to compare"
                );

                let start = Instant::now();
                let out = tempfile::tempdir().unwrap();
                let mut ours = stackwitness();
                ours.args(["run", "--jdk"]).arg(&jdk);
                ours.arg("--out").arg(out.path()).arg("--");
                let hooked = behaviour(
                    &program,
                    ours,
                    |_| report(out.path()).runs[0].exit.clone(),
                    mode,
                );
                let rewriting = report(out.path()).runs[0].rewriting.clone().unwrap();
                assert!(rewriting.classes_hooked > 300, "{place}: {rewriting:?}");
                assert!(plain == hooked, "{place}: {plain:#?}\n{hooked:#?}");
                println!(
                    "{place}: the same {} bytes and {} files, {} methods of {} classes hooked, {:.1} s",
                    plain.stdout.len(),
                    plain.files.len(),
                    rewriting.methods_hooked,
                    rewriting.classes_hooked,
                    start.elapsed().as_secs_f64()
                );
            }
        }
    }
}
