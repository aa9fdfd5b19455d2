//! Broken scenario files.

use crate::breaking::each;
use crate::command::answer;
use crate::support::fake_jdk;
use std::fs;

const SCENARIO: &str = "\
name = 'matrix'
layers = ['gst', 'asgct-async']
[sampling]
interval_us = 200
check_share = 0.1
[budget]
gst = 0
asgct-async = 0.01
[matrix]
repetitions = 2
[matrix.axes.compiler]
int = ['-Xint']
tiered = []
[[program]]
name = 'one'
java = ['One']
deadline_s = 30
[[program]]
name = 'two'
fixtures = { names = ['lambdas'], seconds = 2.5 }
";

/// How many JVMs a scenario needs, by an independent reader. The text must be TOML.
fn number(text: &[u8]) -> usize {
    let text = str::from_utf8(text).expect("what is no text is refused");
    let table: toml::Table = text.parse().expect("what is no TOML is refused");
    let programs = table["program"].as_array().expect("a list").len();
    let matrix = table.get("matrix").and_then(|matrix| matrix.as_table());
    let repetitions = matrix.and_then(|matrix| matrix.get("repetitions")?.as_integer());
    let axes = matrix.and_then(|matrix| matrix.get("axes")?.as_table());
    let values = axes.into_iter().flat_map(|axes| axes.values());
    let sizes = values.map(|values| values.as_table().expect("an axis").len());
    programs * repetitions.unwrap_or(1) as usize * sizes.product::<usize>()
}

#[test]
fn plan() {
    let folder = tempfile::tempdir().unwrap();
    fake_jdk(folder.path(), "exit 0");
    let file = folder.path().join("x.toml");
    let words = ["plan", "--jdk", "jdk", "--scenario", "x.toml"];
    fs::write(&file, SCENARIO).unwrap();
    let whole = answer(folder.path(), &words, b"");
    assert_eq!(
        (whole.code, whole.stdout.lines().count()),
        (Some(0), 8),
        "{whole:#?}"
    );
    each(SCENARIO.as_bytes(), |bytes| {
        fs::write(&file, bytes).unwrap();
        let output = answer(folder.path(), &words, bytes);
        if output.code == Some(0) {
            assert_eq!(output.stdout.lines().count(), number(bytes), "{output:#?}");
        }
    });
}

/// Counts one match in `gst`.
const SCRIPT: &str = r#"
printf '\001' | dd of=$dir/slots.bin bs=1 seek=1280 conv=notrunc 2>/dev/null
echo '{"started":{"home":"h","vendor":"v","version":"17","vm":"VM","asgct":true}}' > $dir/records.jsonl
"#;

const SMALL: &str = "\
name = 'small'
layers = ['gst']
[sampling]
interval_us = 200
[budget]
gst = 0.5
[matrix]
repetitions = 1
[[program]]
name = 'one'
java = ['One']
baseline = false
deadline_s = 30
";

/// Who ran a scenario has run all of it.
#[test]
fn run() {
    let folder = tempfile::tempdir().unwrap();
    let jdk = fake_jdk(folder.path(), SCRIPT).display().to_string();
    let file = folder.path().join("x.toml");
    let out = folder.path().join("out");
    let words = ["run", "--scenario", "x.toml", "--jdk", &jdk, "--out", "out"];
    fs::write(&file, SMALL).unwrap();
    let whole = answer(folder.path(), &words, b"");
    assert_eq!(whole.code, Some(0), "{whole:#?}");
    each(SMALL.as_bytes(), |bytes| {
        let _ = fs::remove_dir_all(&out);
        fs::write(&file, bytes).unwrap();
        let output = answer(folder.path(), &words, bytes);
        if output.code == Some(0) {
            let report = crate::support::report(&out);
            assert_eq!(report.runs.len(), number(bytes), "{output:#?}");
        }
    });
}
