//! Shards, merging, rendering again and the gate, on a fake JVM whose counts depend on the seed
//! alone. Simpler examples are in `tests/examples`.

use crate::support::{Output, Place};
use std::fs;
use std::os::unix::fs::symlink;

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

/// A folder with the scenario.
fn place() -> Place {
    let place = Place::with_fake_jdk(COUNTING);
    place.write("matrix.toml", MATRIX);
    place
}

/// Runs the scenario into a folder, with more options.
fn run_matrix(place: &Place, out: &str, more: &str) -> Output {
    place.run(&format!(
        "run --seed 100 --scenario matrix.toml --out {out}{more}"
    ))
}

/// A report without the parts that differ between any two runs.
fn timeless(place: &Place, out: &str) -> oracle::report::Report {
    let mut report = place.report(out);
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
    let place = place();
    run_matrix(&place, "whole", "").ended(0);
    let whole = timeless(&place, "whole");
    assert_eq!(whole.runs.len(), 12);
    assert!(whole.layers[0].matches > 0);
    for of in [1, 2, 5] {
        let mut merge = format!("merge --out merged-{of}");
        // The order of the parts does not matter.
        for index in (1..=of).rev() {
            let out = format!("part-{index}-of-{of}");
            run_matrix(&place, &out, &format!(" --shard {index}/{of}")).ended(0);
            merge += &format!(" {out}");
        }
        place.run(&merge).ended(0);
        let merged = format!("merged-{of}");
        assert_eq!(timeless(&place, &merged), whole);
        let config = format!("{merged}/{}/config.json", whole.runs[3].dir);
        assert!(place.path(&config).exists());
    }
}

#[test]
fn a_part_alone_is_not_the_whole() {
    let place = place();
    run_matrix(&place, "part", " --shard 1/3");
    let alone = place.run("merge --out merged part").ended(3);
    assert!(
        alone.stdout.contains("not all runs were done"),
        "{alone:#?}"
    );
    let twice = place.run("merge --out merged part part").ended(2);
    let expected = "a run is in two of the reports";
    assert!(twice.stderr.contains(expected), "{twice:#?}");
}

#[test]
fn merge_follows_no_links() {
    let place = place();
    run_matrix(&place, "part", "");
    place.write("secret", "secret");
    let folder = place.path("part").join(&place.report("part").runs[0].dir);
    symlink(place.path("secret"), folder.join("link")).unwrap();
    symlink("..", folder.join("loop")).unwrap();
    place.run("merge part --out merged").ended(0);
    let copied = place
        .path("merged")
        .join(&place.report("merged").runs[0].dir);
    assert!(copied.join("config.json").exists());
    for link in ["link", "loop"] {
        assert!(fs::symlink_metadata(copied.join(link)).is_err(), "{link}");
    }
}

#[test]
fn the_gate_says_the_same_in_every_format() {
    let place = place();
    run_matrix(&place, "plain", "");
    let issue = "[[issue]]\nid = 'JDK-1'\nlayer = 'gst'\nverdict = 'wrong'\nplace = 'A.b'\n\
        max_rate = 0.5\nlink = 'x'\n";
    place.write("known.toml", issue);
    // Each run has one known mismatch.
    let json = place.read("plain/report.json");
    let mut json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let make_wrong = |layer: &mut serde_json::Value, wrong: u64| {
        layer["wrong"] = wrong.into();
        layer["checks"] = (layer["checks"].as_u64().unwrap() + wrong).into();
    };
    make_wrong(&mut json["layers"][0], 12);
    for run in json["runs"].as_array_mut().unwrap() {
        make_wrong(&mut run["layers"][0], 1);
    }
    place.write("known.json", json.to_string());
    for (known, code, junit, outcome) in [
        (" --known known.toml", 0, false, "within budget"),
        ("", 1, true, "over budget"),
    ] {
        place.run(&format!("gate known.json{known}")).ended(code);
        let render = |format: &str| {
            let words = format!("render known.json --format {format} --gate{known}");
            place.run(&words).stdout
        };
        assert_eq!(render("junit").contains("<failure "), junit);
        for format in ["table", "markdown", "html"] {
            assert!(render(format).contains(outcome), "{format}{known}");
        }
    }
}

#[test]
fn every_format_comes_from_a_report_and_again_from_the_records() {
    let place = place();
    run_matrix(&place, "out", " --render table,junit,markdown,html").ended(0);
    let out = place.path("out");
    let out = out.display();
    for (format, file, expected) in [
        ("table", "out/report.txt", "sum "),
        (
            "junit",
            "out/junit.xml",
            "<testsuite name=\"one[compiler=c1,repetition=1]\"",
        ),
        ("markdown", "out/report.md", "| sum | gst |"),
        ("html", "out/report.html", "a &lt;b&gt; &amp; c"),
    ] {
        let written = place.read(file);
        assert!(written.contains(expected), "{written}");
        for from in ["", " --from-records"] {
            let words = format!("render {out}{from} --format {format}");
            let again = place.run(&words).ended(0);
            assert_eq!(again.stdout, written, "{words}");
        }
    }
    let again = place.run("render out --from-records --format json");
    assert_eq!(again.stdout, place.read("out/report.json"));
}

#[test]
fn help_completions_and_a_manual() {
    let place = Place::new();
    for command in [
        "run", "check", "profile", "judge", "gate", "compare", "merge", "plan", "render", "dev",
    ] {
        let output = place.run(&format!("{command} --help")).ended(0);
        let usage = "Usage: stackwitness";
        assert!(output.stdout.contains(usage), "{output:#?}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let output = place.run(&format!("completions {shell}")).ended(0);
        assert!(output.stdout.contains("scenario"), "{shell}");
    }
    let man = place.run("man gate").stdout;
    assert!(
        man.starts_with(".ie") && man.contains("stackwitness\\-gate"),
        "{man}"
    );
    place.run("man -o .").ended(0);
    assert!(place.path("stackwitness-baseline-create.1").is_file());
}
