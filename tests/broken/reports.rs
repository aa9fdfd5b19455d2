//! Broken reports and files of known issues.

use crate::breaking::each;
use crate::command::answer;
use oracle::Layer;
use oracle::record::VisitedCode;
use oracle::report::Report;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const GOOD: &[u8] = include_bytes!("../examples/shared/good.json");
const OVER: &[u8] = include_bytes!("../examples/shared/known.json");
const KNOWN: &[u8] = include_bytes!("../examples/gate-known/known.toml");

/// The numbers of a layer to which a budget applies.
#[derive(Debug, Default, PartialEq)]
pub struct Counted {
    pub checks: u64,
    pub mismatches: u64,
}

/// The counts of all runs of a report, in each layer; `None` if the text is no report.
pub fn counted(text: &[u8]) -> Option<BTreeMap<Layer, Counted>> {
    let report: Report = serde_json::from_slice(text).ok()?;
    let mut counted: BTreeMap<Layer, Counted> = BTreeMap::new();
    for counts in report.runs.iter().flat_map(|run| &run.layers) {
        let sum = counted.entry(counts.layer).or_default();
        let verdicts = [
            counts.matches,
            counts.window,
            counts.imprecise,
            counts.truncated,
            counts.wrong,
            counts.unverifiable,
        ];
        let verdicts = verdicts.into_iter().chain(counts.error.values().copied());
        let checks = verdicts.fold(0, u64::saturating_add);
        assert_eq!(
            checks, counts.checks,
            "a report whose numbers do not add up was taken"
        );
        sum.checks += checks;
        sum.mismatches += counts.truncated + counts.wrong;
    }
    Some(counted)
}

/// The promise of the answer yes: the input is a report, its numbers add up, and no layer has
/// mismatches, because the report before the change has a budget of almost none.
fn is_good(text: &[u8]) {
    let counted = counted(text).expect("what is no report is refused");
    assert!(
        !counted.is_empty(),
        "a report without layers proves nothing"
    );
    for (layer, counts) in counted {
        let rate = counts.mismatches as f64 / counts.checks as f64;
        assert!(rate <= 0.001, "{layer}: {counts:?}");
    }
}

#[test]
fn gate() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    each(GOOD, |bytes| {
        fs::write(&file, bytes).unwrap();
        if answer(folder.path(), &["gate", "report.json"], bytes).code == Some(0) {
            is_good(bytes);
        }
    });
}

/// A report with mismatches of known kinds is never good.
#[test]
fn gate_over_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let mut report: serde_json::Value = serde_json::from_slice(OVER).unwrap();
    report["budget"]["asgct-async"] = 5e-6.into();
    let whole = report.to_string();
    fs::write(&file, &whole).unwrap();
    let words = ["gate", "report.json"];
    let output = answer(folder.path(), &words, b"");
    assert!(matches!(output.code, Some(1 | 3)), "{output:#?}");
    each(whole.as_bytes(), |bytes| {
        fs::write(&file, bytes).unwrap();
        if answer(folder.path(), &words, bytes).code == Some(0) {
            let report: Report =
                serde_json::from_slice(bytes).expect("what is no report is refused");
            let counted = counted(bytes).expect("a report");
            for (layer, counts) in counted {
                let rate = counts.mismatches as f64 / counts.checks as f64;
                assert!(rate <= report.budget.limit(layer), "{layer}: {counts:?}");
            }
        }
    });
}

#[test]
fn render() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let formats = ["table", "json", "html", "junit", "markdown"];
    let mut turn = 0;
    each(GOOD, |bytes| {
        fs::write(&file, bytes).unwrap();
        turn += 1;
        let format = formats[turn % formats.len()];
        let output = answer(folder.path(), &["render", ".", "--format", format], bytes);
        if output.code != Some(0) {
            return;
        }
        let report: Report = serde_json::from_slice(bytes).expect("what is no report is refused");
        if format == "json" {
            let shown: Report = serde_json::from_str(&output.stdout).unwrap();
            assert_eq!(shown, report);
        }
    });
}

#[test]
fn compare() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.json"), GOOD).unwrap();
    let file = folder.path().join("broken.json");
    each(GOOD, |bytes| {
        fs::write(&file, bytes).unwrap();
        for pair in [["good.json", "broken.json"], ["broken.json", "good.json"]] {
            let output = answer(folder.path(), &["compare", pair[0], pair[1]], bytes);
            if output.code == Some(0) {
                counted(bytes).expect("what is no report is refused");
            }
        }
    });
}

#[test]
fn merge() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.json"), GOOD).unwrap();
    let file = folder.path().join("broken.json");
    each(GOOD, |bytes| {
        fs::write(&file, bytes).unwrap();
        let out = folder.path().join("out");
        let words = ["merge", "good.json", "broken.json", "--out", "out"];
        if answer(folder.path(), &words, bytes).code == Some(0) {
            let runs = |text: &[u8]| serde_json::from_slice::<Report>(text).unwrap().runs.len();
            let joined = fs::read(out.join("report.json")).unwrap();
            assert_eq!(runs(&joined), runs(GOOD) + runs(bytes));
        }
        let _ = fs::remove_dir_all(out);
    });
}

#[test]
fn known_issues() {
    let folder = tempfile::tempdir().unwrap();
    // A limit between the upper bounds of 0 and of 2 mismatches in 100,000 checks, so that the
    // issues decide.
    let mut report: serde_json::Value = serde_json::from_slice(OVER).unwrap();
    report["budget"]["asgct-async"] = 5e-5.into();
    fs::write(folder.path().join("report.json"), report.to_string()).unwrap();
    let file = folder.path().join("known.toml");
    let words = ["gate", "report.json", "--known", "known.toml"];
    for (issues, code) in [(KNOWN, 0), (b"", 3)] {
        fs::write(&file, issues).unwrap();
        let output = answer(folder.path(), &words, issues);
        assert_eq!(output.code, Some(code), "{output:#?}");
    }
    each(KNOWN, |bytes| {
        fs::write(&file, bytes).unwrap();
        if answer(folder.path(), &words, bytes).code == Some(0) {
            excuses(bytes);
        }
    });
}

/// One of the issues in `text` must excuse the mismatches of the report: they are wrong in layer
/// `asgct-async` by cause `leaf-call` at `a.B.c`, at a rate of at least 2e-5.
fn excuses(text: &[u8]) {
    let text = str::from_utf8(text).expect("text");
    let table: toml::Table = text.parse().expect("what is no TOML is refused");
    let issues = table.get("issue").and_then(|issues| issues.as_array());
    let issues = issues.unwrap_or_else(|| panic!("no issue: {text}"));
    let fits = issues.iter().any(|issue| {
        let text = |key: &str| issue.get(key).and_then(|value| value.as_str());
        let rate = &issue["max_rate"];
        let rate = rate
            .as_float()
            .or(rate.as_integer().map(|rate| rate as f64));
        text("layer") == Some("asgct-async")
            && text("verdict") == Some("wrong")
            && text("cause") == Some("leaf-call")
            && text("place").is_none_or(|place| place == "a.B.c")
            && rate.is_some_and(|rate| rate >= 2e-5)
    });
    assert!(fits, "{text}");
}

/// The code that threads ran step by step.
#[test]
fn listing() {
    // push rbp; test eax, eax; jz 7; inc ecx; pop rbp; ret; nop
    const VISITED: &str = r#"{"name":"nmethod","method":"a.B.c","tier":4,"start":4096,"stubs":9,"code":"5585c07402ffc15dc390","visited":[[0,"match"],[1,"imprecise"],[3,"unverifiable"],[7,"wrong"]],"missed":[5,8],"behind_branches":[5],"behind_visited":[8],"has_ended":true}
"#;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("visited.jsonl");
    let words = ["dev", "listing", ".", "--method", "a.B"];
    fs::write(&file, VISITED).unwrap();
    let whole = answer(folder.path(), &words, b"");
    assert!(whole.stdout.contains("!      7  pop rbp"), "{whole:#?}");
    each(VISITED.as_bytes(), |bytes| {
        fs::write(&file, bytes).unwrap();
        if answer(folder.path(), &words, bytes).code == Some(0) {
            for line in str::from_utf8(bytes).expect("text").lines() {
                serde_json::from_str::<VisitedCode>(line).expect("what is no record is refused");
            }
        }
    });
}

/// A folder of results: each file of a run is broken in turn.
#[test]
fn render_from_records() {
    let folder = tempfile::tempdir().unwrap();
    let jdk = crate::support::fake_jdk(folder.path(), SCRIPT);
    fs::write(folder.path().join("x.toml"), SCENARIO).unwrap();
    let jdk = jdk.display().to_string();
    let words = ["run", "--scenario", "x.toml", "--out", "out", "--jdk", &jdk];
    let first = answer(folder.path(), &words, b"");
    assert_eq!(first.code, Some(0), "{first:#?}");
    let run = folder.path().join("out/runs/001-p");
    for name in ["records.jsonl", "run.json", "config.json", "slots.bin"] {
        let file = run.join(name);
        let whole = fs::read(&file).unwrap();
        let mut turn = 0;
        each(&whole, |bytes| {
            turn += 1;
            // A thousand inputs for the command, not for each of its files.
            if turn % 4 == 0 {
                fs::write(&file, bytes).unwrap();
                from_records(folder.path(), bytes);
            }
        });
        fs::write(&file, whole).unwrap();
    }
}

fn from_records(folder: &Path, bytes: &[u8]) {
    let words = ["render", "--from-records", "out", "--format", "json"];
    let output = answer(folder, &words, bytes);
    if output.code == Some(0) {
        counted(output.stdout.as_bytes()).expect("a report");
    }
}

const SCRIPT: &str = r#"
printf '\001' | dd of=$dir/slots.bin bs=1 seek=1280 conv=notrunc 2>/dev/null
echo '{"started":{"home":"h","vendor":"v","version":"17","vm":"VM","asgct":true}}' > $dir/records.jsonl
"#;

const SCENARIO: &str = "name = 'x'\nlayers = ['gst']\n[[program]]\nname = 'p'\njava = ['P']\n";
