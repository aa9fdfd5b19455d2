//! Broken reports and files of known issues.

use crate::breaking::each;
use crate::command::{answer, each_accepted, each_answer};
use crate::support::{COUNTS_ONE, Place};
use oracle::Layer;
use oracle::record::VisitedCode;
use oracle::report::Report;
use std::collections::BTreeMap;
use std::fs;

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
    let file = ("report.json", GOOD);
    each_accepted(&Place::new(), "gate report.json", file, |_, bytes| {
        is_good(bytes);
    });
}

/// A report with mismatches of known kinds is never good.
#[test]
fn gate_over_the_budget() {
    let place = Place::new();
    let whole = over(5e-6);
    place.write("report.json", &whole);
    let output = answer(&place, "gate report.json", b"");
    assert!(matches!(output.code, Some(1 | 3)), "{output:#?}");
    let file = ("report.json", whole.as_bytes());
    each_accepted(&place, "gate report.json", file, |_, bytes| {
        let report: Report = serde_json::from_slice(bytes).expect("what is no report is refused");
        for (layer, counts) in counted(bytes).expect("a report") {
            let rate = counts.mismatches as f64 / counts.checks as f64;
            assert!(rate <= report.budget.limit(layer), "{layer}: {counts:?}");
        }
    });
}

/// The report that is over its budget, with another budget.
fn over(budget: f64) -> String {
    let mut report: serde_json::Value = serde_json::from_slice(OVER).unwrap();
    report["budget"]["asgct-async"] = budget.into();
    report.to_string()
}

#[test]
fn render() {
    let place = Place::new();
    let formats = ["table", "json", "html", "junit", "markdown"];
    let mut turn = 0;
    each(GOOD, |bytes| {
        place.write("report.json", bytes);
        turn += 1;
        let format = formats[turn % formats.len()];
        let output = answer(&place, &format!("render . --format {format}"), bytes);
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
    let place = Place::new();
    place.write("good.json", GOOD);
    each(GOOD, |bytes| {
        place.write("broken.json", bytes);
        for pair in ["good.json broken.json", "broken.json good.json"] {
            if answer(&place, &format!("compare {pair}"), bytes).code == Some(0) {
                counted(bytes).expect("what is no report is refused");
            }
        }
    });
}

#[test]
fn merge() {
    let place = Place::new();
    place.write("good.json", GOOD);
    let words = "merge good.json broken.json --out out";
    each_answer(&place, words, ("broken.json", GOOD), |output, bytes| {
        if output.code == Some(0) {
            let runs = |text: &[u8]| serde_json::from_slice::<Report>(text).unwrap().runs.len();
            let joined = place.read("out/report.json");
            assert_eq!(runs(joined.as_bytes()), runs(GOOD) + runs(bytes));
        }
        let _ = fs::remove_dir_all(place.path("out"));
    });
}

#[test]
fn known_issues() {
    let place = Place::new();
    // A limit between the upper bounds of 0 and of 2 mismatches in 100,000 checks, so that the
    // issues decide.
    place.write("report.json", over(5e-5));
    let words = "gate report.json --known known.toml";
    for (issues, code) in [(KNOWN, 0), (b"", 3)] {
        place.write("known.toml", issues);
        answer(&place, words, issues).ended(code);
    }
    each_accepted(&place, words, ("known.toml", KNOWN), |_, bytes| {
        excuses(bytes);
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
    let place = Place::new();
    let words = "dev listing . --method a.B";
    place.write("visited.jsonl", VISITED);
    let whole = answer(&place, words, b"");
    assert!(whole.stdout.contains("!      7  pop rbp"), "{whole:#?}");
    let file = ("visited.jsonl", VISITED.as_bytes());
    each_accepted(&place, words, file, |_, bytes| {
        for line in str::from_utf8(bytes).expect("text").lines() {
            serde_json::from_str::<VisitedCode>(line).expect("what is no record is refused");
        }
    });
}

/// A folder of results: each file of a run is broken in turn.
#[test]
fn render_from_records() {
    let place = Place::with_fake_jdk(COUNTS_ONE);
    place.write("x.toml", ONE_PROGRAM);
    answer(&place, "run --scenario x.toml --out out", b"").ended(0);
    for name in ["records.jsonl", "run.json", "config.json", "slots.bin"] {
        let name = format!("out/runs/001-p/{name}");
        let whole = fs::read(place.path(&name)).unwrap();
        let mut turn = 0;
        each(&whole, |bytes| {
            turn += 1;
            // A thousand inputs for the command, not for each of its files.
            if turn % 4 == 0 {
                place.write(&name, bytes);
                let output = answer(&place, "render --from-records out --format json", bytes);
                if output.code == Some(0) {
                    counted(output.stdout.as_bytes()).expect("a report");
                }
            }
        });
        place.write(&name, whole);
    }
}

/// A scenario with one program, which a JDK that is a script runs.
pub const ONE_PROGRAM: &str =
    "name = 'x'\nlayers = ['gst']\n[[program]]\nname = 'p'\njava = ['P']\n";
