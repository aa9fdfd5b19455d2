//! Broken scenario files.

use crate::breaking::each;
use crate::command::{answer, each_accepted};
use crate::support::{COUNTS_ONE, Place};
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
    let place = Place::with_fake_jdk("exit 0");
    let words = "plan --scenario x.toml";
    place.write("x.toml", SCENARIO);
    let whole = answer(&place, words, b"").ended(0);
    assert_eq!(whole.stdout.lines().count(), 8, "{whole:#?}");
    let file = ("x.toml", SCENARIO.as_bytes());
    each_accepted(&place, words, file, |output, bytes| {
        assert_eq!(output.stdout.lines().count(), number(bytes), "{output:#?}");
    });
}

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
    let place = Place::with_fake_jdk(COUNTS_ONE);
    let words = "run --scenario x.toml --out out";
    place.write("x.toml", SMALL);
    answer(&place, words, b"").ended(0);
    each(SMALL.as_bytes(), |bytes| {
        let _ = fs::remove_dir_all(place.path("out"));
        place.write("x.toml", bytes);
        let output = answer(&place, words, bytes);
        if output.code == Some(0) {
            assert_eq!(place.report("out").runs.len(), number(bytes), "{output:#?}");
        }
    });
}
