//! Broken baselines, and reports that are judged by a baseline.

use crate::breaking::TIMES;
use crate::command::{answer, each_accepted, each_answer};
use crate::reports::{ONE_PROGRAM, counted};
use crate::support::Place;
use std::fs;

/// Counts ten thousand matches in `gst`; a hundred, once, if there is a file `few` beside the folder of results.
const SCRIPT: &str = r#"
count='\020\047'
rm $dir/../../../few 2>/dev/null && count='\144'
printf "$count" | dd of=$dir/slots.bin bs=1 seek=1280 conv=notrunc 2>/dev/null
echo '{"started":{"home":"h","vendor":"v","version":"17","vm":"VM","asgct":true}}' > $dir/records.jsonl
"#;

/// A folder with the baseline `base.json` of five runs, the report `good.json` of another run, and `bad.json`, which has 300
/// false stacks more.
fn place() -> Place {
    let place = Place::with_fake_jdk(SCRIPT);
    place.write("x.toml", ONE_PROGRAM);
    for seed in 1..=6 {
        let words = format!("run --scenario x.toml --seed {seed} --out {seed}");
        answer(&place, &words, b"").ended(0);
    }
    answer(&place, "baseline create 1 2 3 4 5 -o base.json", b"").ended(0);
    let good = place.read("6/report.json");
    let mut bad: serde_json::Value = serde_json::from_str(&good).unwrap();
    for layers in ["/runs/0/layers/0", "/layers/0"] {
        let layer = bad.pointer_mut(layers).unwrap();
        layer["match"] = 9700.into();
        layer["wrong"] = 300.into();
    }
    place.write("good.json", good);
    place.write("bad.json", bad.to_string());
    place
}

/// A command says that no broken baseline makes 300 false stacks good.
fn is_not_fooled(words: impl Fn(&str) -> String) {
    let place = place();
    answer(&place, &words("good.json"), b"").ended(0);
    answer(&place, &words("bad.json"), b"").ended(1);
    let whole = place.read("base.json");
    let file = ("base.json", whole.as_bytes());
    each_accepted(&place, &words("bad.json"), file, |output, bytes| {
        panic!("{output:#?}\n{}", String::from_utf8_lossy(bytes));
    });
}

#[test]
fn gate() {
    is_not_fooled(|report| format!("gate {report} --baseline base.json"));
}

#[test]
fn compare() {
    is_not_fooled(|report| format!("compare base.json {report}"));
}

/// A report that a baseline judges.
#[test]
fn report() {
    let place = place();
    let whole = place.read("bad.json");
    let file = ("bad.json", whole.as_bytes());
    let words = "gate bad.json --baseline base.json";
    each_accepted(&place, words, file, |_, bytes| {
        let counted = counted(bytes).expect("what is no report is refused");
        let wrong: u64 = counted.values().map(|layer| layer.mismatches).sum();
        assert_eq!(wrong, 0, "{}", String::from_utf8_lossy(bytes));
    });
}

/// A baseline of a good report and a broken one has the counts of both.
#[test]
fn make() {
    let place = place();
    let whole = place.read("good.json");
    let mut made = 0;
    let words = "baseline create 1 good.json -o new.json";
    let file = ("good.json", whole.as_bytes());
    each_accepted(&place, words, file, |_, bytes| {
        made += 1;
        let counted = counted(bytes).expect("what is no report is refused");
        let checks: u64 = counted.values().map(|layer| layer.checks).sum();
        let new: serde_json::Value =
            serde_json::from_str(&place.read("new.json")).expect("a baseline is JSON");
        let platforms = new["platforms"].as_object().unwrap().values();
        let cells = platforms.flat_map(|platform| platform["cells"].as_object().unwrap());
        let all = cells.filter(|(name, _)| name.starts_with("* |") && name.ends_with("checks"));
        let counts = all.flat_map(|(_, counts)| counts.as_array().unwrap());
        let kept: u64 = counts.map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(kept, 10_000 + checks, "{}", String::from_utf8_lossy(bytes));
        fs::remove_file(place.path("new.json")).unwrap();
    });
    assert!(made > 0 && made < TIMES);
}

/// A broken baseline that is brought up to date is no baseline without its runs.
#[test]
fn update() {
    let place = place();
    let whole = place.read("base.json");
    let words = "baseline update base.json 1 2 3 4 5";
    let file = ("base.json", whole.as_bytes());
    each_answer(&place, words, file, |output, bytes| {
        let after = fs::read(place.path("base.json")).unwrap();
        if output.code == Some(0) {
            serde_json::from_slice::<serde_json::Value>(bytes).expect("what is no JSON is refused");
            answer(&place, "gate bad.json --baseline base.json", &after).ended(1);
        } else {
            assert!(after == bytes, "half a baseline: {output:#?}");
        }
    });
}

/// A program that hardly measured, where the baseline has many checks, runs again before anything is judged.
#[test]
fn run() {
    let place = place();
    let words = "run --scenario x.toml --seed 7 --baseline base.json --out out";
    for (is_slow, runs) in [(false, 1), (true, 2)] {
        if is_slow {
            place.write("few", "");
        }
        answer(&place, words, b"").ended(0);
        let report: serde_json::Value =
            serde_json::from_str(&place.read("out/report.json")).unwrap();
        assert_eq!(report["runs"].as_array().unwrap().len(), runs);
        assert_eq!(
            (&report["complete"], &report["planned"]),
            (&true.into(), &runs.into())
        );
        fs::remove_dir_all(place.path("out")).unwrap();
    }
}
