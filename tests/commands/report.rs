//! Shards, merging, rendering again and the gate, on a fake JVM whose counts depend on the seed
//! alone. Simpler examples are in `tests/examples`.

use crate::support::{Output, fake_jdk, report, run, stackwitness};
use std::fs;
use std::path::{Path, PathBuf};

/// Counts in `gst` what its seed says, and writes one record.
const COUNTING: &str = r#"
seed=$(sed -n 's/.*"seed": *\([0-9]*\).*/\1/p' $dir/config.json)
octal=$(printf '%o' $((seed % 200 + 50)))
printf "\\$octal" | dd of=$dir/slots.bin bs=1 seek=1281 conv=notrunc 2>/dev/null
echo '{"started":{"home":"h","vendor":"v","version":"17.0.1","vm":"VM","asgct":true}}' > $dir/records.jsonl
echo '{"mismatch":{"layer":"gst","verdict":"wrong","reason":"a <b> & c","thread":"main","walker":[{"method":"A.b()V","bci":1,"line":2}],"truth":[],"at_frame":0}}' >> $dir/records.jsonl
echo '"ended"' >> $dir/records.jsonl
"#;

const MATRIX: &str = "
name = 'matrix'
layers = ['gst']
[matrix]
repetitions = 2
[matrix.axes.compiler]
c1 = ['-XX:TieredStopAtLevel=1']
int = ['-Xint']
tiered = []
[[program]]
name = 'one'
fixtures = { seconds = 1 }
[[program]]
name = 'two'
java = ['Two']
";

struct Place {
    dir: tempfile::TempDir,
    jdk: PathBuf,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let jdk = fake_jdk(dir.path(), COUNTING);
        fs::write(dir.path().join("matrix.toml"), MATRIX).unwrap();
        Place { dir, jdk }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run(&self, out: &str, more: &[&str]) -> Output {
        run(stackwitness()
            .args(["run", "--seed", "100", "--jdk"])
            .arg(&self.jdk)
            .arg("--scenario")
            .arg(self.path("matrix.toml"))
            .arg("--out")
            .arg(self.path(out))
            .args(more))
    }
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A report without the parts that differ between any two runs.
fn timeless(out: &Path) -> oracle::report::Report {
    let mut report = report(out);
    report.origins.clear();
    for run in &mut report.runs {
        run.wall_s = 0.0;
        run.cost = None;
        // The arguments name the folder of the results.
        run.java_args.clear();
    }
    report
}

#[test]
fn shards_merge_into_what_the_whole_would_have_been() {
    let place = Place::new();
    assert_eq!(place.run("whole", &[]).code, Some(0));
    let whole = timeless(&place.path("whole"));
    assert_eq!(whole.runs.len(), 12);
    assert!(whole.layers[0].matches > 0);
    for of in [1, 2, 5] {
        let mut merge = stackwitness();
        merge
            .arg("merge")
            .arg("--out")
            .arg(place.path(&format!("merged-{of}")));
        // The order of the parts does not matter.
        for index in (1..=of).rev() {
            let out = format!("part-{index}-of-{of}");
            assert_eq!(
                place.run(&out, &["--shard", &format!("{index}/{of}")]).code,
                Some(0)
            );
            merge.arg(place.path(&out));
        }
        let output = run(&mut merge);
        assert_eq!(output.code, Some(0), "{output:#?}");
        let merged = place.path(&format!("merged-{of}"));
        assert_eq!(timeless(&merged), whole);
        assert!(merged.join(&whole.runs[3].dir).join("config.json").exists());
    }
}

#[test]
fn a_part_alone_is_not_the_whole() {
    let place = Place::new();
    place.run("part", &["--shard", "1/3"]);
    let merge = |names: &[&str]| {
        let mut command = stackwitness();
        command.arg("merge").arg("--out").arg(place.path("merged"));
        names.iter().for_each(|name| {
            command.arg(place.path(name));
        });
        run(&mut command)
    };
    let alone = merge(&["part"]);
    assert_eq!(alone.code, Some(3), "{alone:#?}");
    assert!(alone.stdout.contains("not all runs were done"));
    let twice = merge(&["part", "part"]);
    assert_eq!(twice.code, Some(2));
    assert!(
        twice.stderr.contains("a run is in two of the reports"),
        "{}",
        twice.stderr
    );
}

#[test]
fn merge_follows_no_links() {
    let place = Place::new();
    place.run("part", &[]);
    fs::write(place.path("secret"), "secret").unwrap();
    let folder = place
        .path("part")
        .join(&report(&place.path("part")).runs[0].dir);
    std::os::unix::fs::symlink(place.path("secret"), folder.join("link")).unwrap();
    std::os::unix::fs::symlink("..", folder.join("loop")).unwrap();
    let merged = place.path("merged");
    let output = run(stackwitness()
        .arg("merge")
        .arg(place.path("part"))
        .arg("--out")
        .arg(&merged));
    assert_eq!(output.code, Some(0), "{output:#?}");
    let copied = merged.join(&report(&merged).runs[0].dir);
    assert!(copied.join("config.json").exists());
    for link in ["link", "loop"] {
        assert!(fs::symlink_metadata(copied.join(link)).is_err(), "{link}");
    }
}

#[test]
fn the_gate_says_the_same_in_every_format() {
    let place = Place::new();
    place.run("plain", &[]);
    let issue = "[[issue]]\nid = 'JDK-1'\nlayer = 'gst'\nverdict = 'wrong'\nplace = 'A.b'\n\
        max_rate = 0.5\nlink = 'x'\n";
    fs::write(place.path("known.toml"), issue).unwrap();
    let known = place.path("known.toml").display().to_string();
    // Each run has one known mismatch.
    let mut json: serde_json::Value =
        serde_json::from_str(&text(&place.path("plain/report.json"))).unwrap();
    let make_wrong = |layer: &mut serde_json::Value, wrong: u64| {
        layer["wrong"] = wrong.into();
        layer["checks"] = (layer["checks"].as_u64().unwrap() + wrong).into();
    };
    make_wrong(&mut json["layers"][0], 12);
    for run in json["runs"].as_array_mut().unwrap() {
        make_wrong(&mut run["layers"][0], 1);
    }
    fs::write(place.path("known.json"), json.to_string()).unwrap();
    let render = |format: &str, more: &[&str]| {
        let mut command = stackwitness();
        command
            .arg("render")
            .arg(place.path("known.json"))
            .args(["--format", format]);
        run(command.args(more)).stdout
    };
    for (more, code, junit, outcome) in [
        (
            &["--gate", "--known", &known][..],
            0,
            false,
            "within budget",
        ),
        (&["--gate"], 1, true, "over budget"),
    ] {
        let gate = run(stackwitness()
            .arg("gate")
            .arg(place.path("known.json"))
            .args(&more[1..]));
        assert_eq!(gate.code, Some(code), "{gate:#?}");
        assert_eq!(render("junit", more).contains("<failure "), junit);
        for format in ["table", "markdown", "html"] {
            assert!(render(format, more).contains(outcome), "{format} {more:?}");
        }
    }
}

#[test]
fn every_format_comes_from_a_report_and_again_from_the_records() {
    let place = Place::new();
    let output = place.run("out", &["--render", "table,junit,markdown,html"]);
    assert_eq!(output.code, Some(0), "{output:#?}");
    let out = place.path("out");
    for (format, file, expected) in [
        ("table", "report.txt", "sum "),
        (
            "junit",
            "junit.xml",
            "<testsuite name=\"one[compiler=c1,repetition=1]\"",
        ),
        ("markdown", "report.md", "| sum | gst |"),
        ("html", "report.html", "a &lt;b&gt; &amp; c"),
    ] {
        let written = text(&out.join(file));
        assert!(written.contains(expected), "{written}");
        for more in [
            &["--format", format][..],
            &["--from-records", "--format", format],
        ] {
            let again = run(stackwitness().arg("render").arg(&out).args(more));
            assert_eq!(again.code, Some(0), "{again:#?}");
            assert_eq!(again.stdout, written, "{more:?}");
        }
    }
    let again =
        run(stackwitness()
            .arg("render")
            .arg(&out)
            .args(["--from-records", "--format", "json"]));
    assert_eq!(again.stdout, text(&out.join("report.json")));
}

#[test]
fn help_completions_and_a_manual() {
    for command in [
        "run", "check", "profile", "judge", "gate", "compare", "merge", "plan", "render", "dev",
    ] {
        let output = run(stackwitness().args([command, "--help"]));
        assert_eq!(output.code, Some(0));
        assert!(
            output.stdout.contains("Usage: stackwitness"),
            "{}",
            output.stdout
        );
    }
    for shell in ["bash", "zsh", "fish"] {
        let output = run(stackwitness().args(["completions", shell]));
        assert!(output.code == Some(0) && output.stdout.contains("scenario"));
    }
    let man = run(stackwitness().args(["man", "gate"])).stdout;
    assert!(
        man.starts_with(".ie") && man.contains("stackwitness\\-gate"),
        "{man}"
    );
    let dir = tempfile::tempdir().unwrap();
    let written = run(stackwitness().args(["man", "-o"]).arg(dir.path()));
    assert_eq!(written.code, Some(0), "{written:#?}");
    assert!(dir.path().join("stackwitness-baseline-create.1").is_file());
}
