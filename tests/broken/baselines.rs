//! Broken baselines, and reports that are judged by a baseline.

use crate::breaking::{TIMES, each};
use crate::command::answer;
use crate::reports::counted;
use std::fs;
use std::path::Path;

/// Counts ten thousand matches in `gst`.
const SCRIPT: &str = r#"
printf '\020\047' | dd of=$dir/slots.bin bs=1 seek=1280 conv=notrunc 2>/dev/null
echo '{"started":{"home":"h","vendor":"v","version":"17","vm":"VM","asgct":true}}' > $dir/records.jsonl
"#;

const SCENARIO: &str = "name = 'x'\nlayers = ['gst']\n[[program]]\nname = 'p'\njava = ['P']\n";

/// Makes the baseline `base.json` of five runs in `folder`, the report `good.json` of another run, and
/// `bad.json`, which has 300 false stacks more.
fn prepare(folder: &Path) {
    let jdk = crate::support::fake_jdk(folder, SCRIPT);
    fs::write(folder.join("x.toml"), SCENARIO).unwrap();
    let jdk = jdk.display().to_string();
    let outs = ["1", "2", "3", "4", "5", "6"];
    for out in outs {
        let words = ["run", "--scenario", "x.toml", "--jdk", &jdk, "--seed", out];
        let output = answer(folder, &[&words[..], &["--out", out]].concat(), b"");
        assert_eq!(output.code, Some(0), "{output:#?}");
    }
    let words = [&["baseline", "create"], &outs[..5], &["-o", "base.json"]].concat();
    let output = answer(folder, &words, b"");
    assert_eq!(output.code, Some(0), "{output:#?}");
    let good = fs::read(folder.join("6/report.json")).unwrap();
    let mut bad: serde_json::Value = serde_json::from_slice(&good).unwrap();
    for layers in ["/runs/0/layers/0", "/layers/0"] {
        let layer = bad.pointer_mut(layers).unwrap();
        layer["match"] = 9700.into();
        layer["wrong"] = 300.into();
    }
    fs::write(folder.join("good.json"), good).unwrap();
    fs::write(folder.join("bad.json"), bad.to_string()).unwrap();
}

/// A command says that no broken baseline makes 300 false stacks good.
fn is_not_fooled(command: &[&str], good: i32) {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let file = folder.path().join("base.json");
    let words = |report| {
        let words = command.iter().copied();
        words.map(move |word| if word == "REPORT" { report } else { word })
    };
    let judge =
        |report, bytes: &[u8]| answer(folder.path(), &words(report).collect::<Vec<_>>(), bytes);
    assert_eq!(judge("good.json", b"").code, Some(good));
    assert_eq!(judge("bad.json", b"").code, Some(1));
    let whole = fs::read(&file).unwrap();
    each(&whole, |bytes| {
        fs::write(&file, bytes).unwrap();
        let output = judge("bad.json", bytes);
        assert_ne!(
            output.code,
            Some(0),
            "{output:#?}\n{}",
            String::from_utf8_lossy(bytes)
        );
    });
}

#[test]
fn gate() {
    is_not_fooled(&["gate", "REPORT", "--baseline", "base.json"], 0);
}

#[test]
fn compare() {
    is_not_fooled(&["compare", "base.json", "REPORT"], 0);
}

/// A report that a baseline judges.
#[test]
fn report() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let whole = fs::read(folder.path().join("bad.json")).unwrap();
    each(&whole, |bytes| {
        fs::write(folder.path().join("bad.json"), bytes).unwrap();
        let words = ["gate", "bad.json", "--baseline", "base.json"];
        if answer(folder.path(), &words, bytes).code == Some(0) {
            let counted = counted(bytes).expect("what is no report is refused");
            let wrong: u64 = counted.values().map(|layer| layer.mismatches).sum();
            assert_eq!(wrong, 0, "{}", String::from_utf8_lossy(bytes));
        }
    });
}

/// A baseline of a good report and a broken one has the counts of both.
#[test]
fn make() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let whole = fs::read(folder.path().join("good.json")).unwrap();
    let mut made = 0;
    each(&whole, |bytes| {
        fs::write(folder.path().join("good.json"), bytes).unwrap();
        let words = ["baseline", "create", "1", "good.json", "-o", "new.json"];
        if answer(folder.path(), &words, bytes).code == Some(0) {
            made += 1;
            let counted = counted(bytes).expect("what is no report is refused");
            let checks: u64 = counted.values().map(|layer| layer.checks).sum();
            let new = fs::read_to_string(folder.path().join("new.json")).unwrap();
            let new: serde_json::Value = serde_json::from_str(&new).expect("a baseline is JSON");
            let platforms = new["platforms"].as_object().unwrap().values();
            let cells = platforms.flat_map(|platform| platform["cells"].as_object().unwrap());
            let all = cells.filter(|(name, _)| name.starts_with("* |") && name.ends_with("checks"));
            let sum = |counts: &serde_json::Value| -> u64 {
                counts
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|n| n.as_u64().unwrap())
                    .sum()
            };
            let kept: u64 = all.map(|(_, counts)| sum(counts)).sum();
            assert_eq!(kept, 10_000 + checks, "{}", String::from_utf8_lossy(bytes));
        }
        let _ = fs::remove_file(folder.path().join("new.json"));
    });
    assert!(made > 0 && made < TIMES);
}

/// A broken baseline that is brought up to date is no baseline without its runs.
#[test]
fn update() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let file = folder.path().join("base.json");
    let whole = fs::read(&file).unwrap();
    each(&whole, |bytes| {
        fs::write(&file, bytes).unwrap();
        let words = ["baseline", "update", "base.json", "1", "2", "3", "4", "5"];
        let output = answer(folder.path(), &words, bytes);
        let after = fs::read(&file).unwrap();
        if output.code == Some(0) {
            serde_json::from_slice::<serde_json::Value>(bytes).expect("what is no JSON is refused");
            let words = ["gate", "bad.json", "--baseline", "base.json"];
            assert_eq!(answer(folder.path(), &words, &after).code, Some(1));
        } else {
            assert!(after == bytes, "half a baseline: {output:#?}");
        }
    });
}
