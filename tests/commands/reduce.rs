//! `reduce`, on JDKs that are scripts.

use crate::support::Place;
use oracle::record::{CauseName, KindCount};
use oracle::report::{Exit, LayerCounts, Report, Run};
use oracle::tally::Tally;
use oracle::{Hooking, Layer, Verdict};

/// Counts 10 matches in `gst`, and shows a leaf call where the fixture `huge-methods` or all fixtures run with -Xint.
const SCRIPT: &str = r#"
printf '\012' | dd of=$dir/slots.bin bs=1 seek=1280 conv=notrunc 2>/dev/null
echo '{"started":{"home":"h","vendor":"v","version":"17.0.1","vm":"VM","asgct":true}}' > $dir/records.jsonl
case "$*" in
*-Xint*sorting*)
    echo '{"kinds":[{"layer":"gst","verdict":"wrong","cause":"leaf-call","place":"A.b","count":3}]}' >> $dir/records.jsonl
    ;;
esac
"#;

/// A folder with a report of a run of three fixtures with two flags, whose kind is that of the script.
fn with_report(cause: &str) -> Place {
    let place = Place::with_fake_jdk(SCRIPT);
    let mut run = Run::new("whole", Exit::Code(0));
    let args = "-Xint -Xmx64m -cp x.jar stackwitness.fixtures.Main --times --millis 1000 lambdas sorting streams";
    run.java_args = args.split(' ').map(String::from).collect();
    run.hooks = Some(Hooking::Exact);
    run.seed = 7;
    run.dir = "runs/001-whole".into();
    run.kinds = vec![KindCount {
        layer: Layer::Gst,
        verdict: Verdict::Wrong,
        cause: Some(CauseName::new(cause)),
        place: "A.b".into(),
        count: 3,
    }];
    let tally = Tally {
        matches: 10,
        wrong: 3,
        ..Tally::default()
    };
    run.layers = vec![LayerCounts::new(Layer::Gst, &tally)];
    let text = include_str!("../examples/shared/good.json");
    let mut report: Report = serde_json::from_str(text).unwrap();
    report.jdk.home = place.path("jdk").display().to_string();
    report.runs = vec![run];
    report.layers = oracle::report::sum_layers(&report.runs);
    report.mismatches = vec![];
    place.write("report.json", serde_json::to_string(&report).unwrap());
    place
}

#[test]
fn a_mistake_comes_to_one_fixture_and_one_flag() {
    let place = with_report("leaf-call");
    let output = place.run("reduce report.json --kind gst:leaf-call -o out");
    let output = output.ended(0);
    let command = output.stdout.lines().nth(1).unwrap_or_default().trim();
    assert_eq!(
        command,
        "stackwitness run --fixture sorting --seconds 1 --hooks none --seed 7 --flags -Xint --jdk JDK",
        "{output:#?}"
    );
    let issue = place.read("out/issue.md");
    assert!(issue.contains(command), "{issue}");
    assert!(
        issue.contains("| 17.0.1 v | 4 of 4 | gst | 12 of 40 |"),
        "{issue}"
    );
}

#[test]
fn a_mistake_that_does_not_show_again_is_not_found() {
    let place = with_report("frame-removed");
    let output = place.run("reduce report.json --kind frame-removed --minutes 0.05 -o out");
    let output = output.ended(3);
    let expected = "not found again: none of ";
    assert!(output.stdout.starts_with(expected), "{output:#?}");
    assert!(!place.path("out/issue.md").exists());
}
