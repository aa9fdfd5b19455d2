//! The HTML page in a real browser, without a network.

use crate::support::{fake_jdk, run, stackwitness};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Counts and writes two mismatches, one with a name that must not become a tag.
const SCRIPT: &str = r#"
printf '\100\100' | dd of=$dir/slots.bin bs=1 seek=1280 conv=notrunc 2>/dev/null
printf '\002' | dd of=$dir/slots.bin bs=1 seek=1312 conv=notrunc 2>/dev/null
echo '{"started":{"home":"h","vendor":"v","version":"17","vm":"VM","asgct":true}}' > $dir/records.jsonl
echo '{"mismatch":{"layer":"gst","verdict":"wrong","reason":"a frame that was not there","thread":"main","walker":[{"method":"x.A.top()V","bci":1,"line":2},{"method":"x.A.main()V","bci":3,"line":4}],"truth":[{"method":"x.A.other()V","bci":5,"line":6},{"method":"x.A.main()V","bci":3,"line":4}],"at_frame":0}}' >> $dir/records.jsonl
echo '{"mismatch":{"layer":"gst","verdict":"wrong","reason":"a frame that was not there","thread":"main","walker":[{"method":"</script><script>window.evil=1</script>.<init>()V","bci":1,"line":2}],"truth":[],"at_frame":0}}' >> $dir/records.jsonl
echo '{"profile":{"methods":["x.A.main()V","x.A.top()V"],"stacks":["2 0 0","5 1 1"],"other":1}}' >> $dir/records.jsonl
echo '{"stacks":{"gst":{"instants":10,"answered":8,"same":7,"overlap":0.8,"rank":1,"methods":["x.A.main()V","</script><script>window.evil=2</script>.m()V","x.A.hot()V"],"frames":["0 0 10 8","1 1 6 3","1 2 4 5"]}}}' >> $dir/records.jsonl
echo '{"errors":[{"layer":"asgct-async","code":-5,"state":"in Java","place":"nmethod tier 4","count":9}]}' >> $dir/records.jsonl
"#;

const SCENARIO: &str = "name = 'x'\nlayers = ['gst']\n[budget]\ngst = 1\n[matrix]\nrepetitions = 2\n\
    [matrix.axes.gc]\na = []\nb = []\n[[program]]\nname = 'p'\njava = ['P']\n";

/// Put before everything else in the page: notes script errors.
const BEFORE: &str =
    "<script>window.errors = []; addEventListener('error', e => errors.push(e.message));</script>";

/// Put at the end of the page: does what a reader would do, and writes the results.
const AFTER: &str = r##"<script>{
const boxes = () => [...document.querySelectorAll("#flame div")];
const all = boxes().length;
const top = boxes().find(box => box.textContent === "A.other");
top.click();
const zoomed = boxes().find(box => box.textContent === "A.other").style.width;
boxes().find(box => box.textContent === "all").click();
const mismatch = document.querySelector("#mismatches details.kind");
mismatch.querySelector("summary").click();
const graphs = () => [...document.querySelectorAll("#bias-flame-0 .graph")].map(graph => [...graph.children]);
const hot = (side) => graphs()[side].find(box => box.textContent === "A.hot");
const both = graphs().map(boxes => boxes.length);
const hues = [...graphs()[1]].map(box => getComputedStyle(box).backgroundColor.match(/\d+/g).map(Number))
  .map(([red, , blue]) => Math.sign(red - blue));
const told = hot(1).title;
hot(0).click();
const zoomedBoth = [0, 1].map(side => hot(side).style.width);
document.body.dataset.seen = JSON.stringify({
  errors: window.errors, evil: window.evil ?? 0, all, zoomed, back: boxes().length,
  open: mismatch.open, differs: document.querySelectorAll("#mismatches tr.differs").length,
  stacks: mismatch.querySelector("tr.differs").getBoundingClientRect().height > 0,
  heat: document.querySelectorAll("#heat td.h3").length,
  warm: getComputedStyle(document.querySelector("#heat td.h3")).backgroundColor,
  profile: [...document.querySelectorAll("#all-flame div")].map(box => box.title).filter(title => title.startsWith("A.") || title.startsWith("other")),
  places: document.querySelector("#error-places code").textContent,
  trend: document.querySelectorAll("#trend polyline").length,
  both, hues, told, zoomedBoth,
  loads: performance.getEntriesByType("resource").length,
});
}</script>"##;

fn browser() -> Option<&'static str> {
    [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ]
    .into_iter()
    .find(|path| Path::new(path).exists())
}

#[test]
fn the_page_works_in_a_browser() {
    let Some(browser) = browser() else {
        println!("skipped: no Chromium");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let home = fake_jdk(dir.path(), SCRIPT);
    fs::write(dir.path().join("x.toml"), SCENARIO).unwrap();
    let output = run(stackwitness()
        .args(["run", "--render", "html", "--jdk"])
        .arg(home)
        .arg("--scenario")
        .arg(dir.path().join("x.toml"))
        .arg("--out")
        .arg(dir.path().join("out")));
    assert_eq!(output.code, Some(0), "{output:#?}");
    let page = fs::read_to_string(dir.path().join("out/report.html")).unwrap();
    assert!(
        !page.contains("http:") && !page.contains("https:"),
        "nothing is fetched"
    );

    let probed = page
        .replace("<head>", &format!("<head>{BEFORE}"))
        .replace("</body>", &format!("{AFTER}</body>"));
    let file = dir.path().join("page.html");
    fs::write(&file, probed).unwrap();
    let output = run(Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-sync",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--dump-dom",
        ])
        .arg(format!(
            "--user-data-dir={}",
            dir.path().join("profile").display()
        ))
        .arg(format!("file://{}", file.display())));
    let seen = output
        .stdout
        .split("data-seen=\"")
        .nth(1)
        .unwrap_or_else(|| panic!("{output:#?}"));
    let seen = seen.split('"').next().unwrap().replace("&quot;", "\"");
    let seen: serde_json::Value = serde_json::from_str(&seen).unwrap();
    assert_eq!(seen["errors"], serde_json::json!([]));
    assert_eq!(seen["evil"], 0);
    // The root, `A.main`, `A.other` and the frame with the odd name.
    assert_eq!((&seen["all"], &seen["back"]), (&4.into(), &4.into()));
    assert_eq!(seen["zoomed"], "100%");
    assert_eq!(
        (&seen["open"], &seen["stacks"]),
        (&true.into(), &true.into())
    );
    // Three examples of each of two kinds.
    assert_eq!(seen["differs"], 6);
    assert_eq!(seen["heat"], 4, "{seen}");
    assert_eq!(seen["trend"], 2);
    let profile = [
        "A.main: 28 of 32",
        "A.top: 20 of 32",
        "other stacks: 4 of 32",
    ];
    assert_eq!(seen["profile"], serde_json::json!(profile));
    // The root, `A.main`, `A.hot` and the frame with the odd name, in both graphs.
    assert_eq!(seen["both"], serde_json::json!([4, 4]));
    // `A.hot` is red, and the odd frame has too small a share on the right and is blue.
    assert_eq!(seen["hues"], serde_json::json!([0, 0, 1, -1]));
    assert_eq!(seen["told"], "A.hot: ran 40.00 % (4), shown 62.50 % (5)");
    assert_eq!(seen["zoomedBoth"], serde_json::json!(["100%", "100%"]));
    assert_eq!(seen["places"], "nmethod tier 4");
    assert_eq!(seen["loads"], 0);
    assert!(seen["warm"].as_str().unwrap().starts_with("rgb("));
}
