//! The HTML page in a real browser, without a network.

use crate::support::{Place, run};
use std::fs;
use std::path::{Path, PathBuf};
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
const example = document.querySelector("#example details");
const rows = [...example.querySelectorAll("tbody tr")].map(row => [row.className, ...[...row.cells].map(cell => cell.innerText.trim())]);
const graph = () => [...document.querySelectorAll("#bias-flame-0 div")];
const hot = () => graph().find(box => box.textContent === "A.hot");
const both = graph().length;
const odd = () => graph().slice(2).find(box => box.textContent !== "A.hot");
const hues = [graph()[0], graph()[1], odd(), hot()]
  .map(box => getComputedStyle(box).backgroundColor.match(/\d+/g).map(Number))
  .map(([red, , blue]) => Math.sign(red - blue));
const told = hot().title;
const width = hot().getBoundingClientRect().width / document.querySelector("#bias-flame-0").getBoundingClientRect().width;
hot().click();
const zoomedBoth = hot().style.width;
document.querySelector('nav a[href="#raw"]').click();
document.querySelectorAll("details").forEach(fold => { fold.open = true; });
document.body.dataset.seen = JSON.stringify({
  errors: window.errors, evil: window.evil ?? 0, all, zoomed, back: boxes().length, rows,
  open: example.open,
  heat: document.querySelectorAll("#heat td.h3").length,
  warm: getComputedStyle(document.querySelector("#heat td.h3")).backgroundColor,
  profile: [...document.querySelectorAll("#all-flame div")].map(box => box.title).filter(title => title.startsWith("A.") || title.startsWith("other")),
  places: document.querySelector("#error-places code").textContent,
  trend: document.querySelectorAll("#trend polyline").length,
  both, hues, told, zoomedBoth, width: Math.round(1000 * width),
  headline: document.querySelector("h1").innerText,
  loads: performance.getEntriesByType("resource").length,
});
}</script>"##;

/// Put at the end of the page: asks axe-core, and looks for what is cut off.
const AXE_AFTER: &str = r##"<script>{
document.querySelectorAll("details").forEach(fold => { fold.open = true; });
const scrolls = (element) => element.closest(".wide, .tower, .hidden, .skip");
const cut = [...document.querySelectorAll("body *")].filter(element => !scrolls(element))
  .filter(element => element.getBoundingClientRect().right > innerWidth + 1 || element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX === "hidden")
  .map(element => `${element.tagName}.${element.className} ${element.textContent.slice(0, 40)}`);
const say = (found) => {
  const seen = JSON.stringify({
    found, cut, width: innerWidth, page: document.documentElement.scrollWidth,
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
  });
  if (parent === window) document.body.dataset.seen = seen;
  else parent.postMessage(seen, "*");
};
axe.run().then(({ violations }) => say(violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(node => node.html.slice(0, 200))])),
  error => say([String(error)]));
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

/// The pages of a report with a bit of everything, and of its comparison with itself; or `None` without a browser.
fn pages() -> Option<(&'static str, [String; 2])> {
    let Some(browser) = browser() else {
        println!("skipped: no Chromium");
        return None;
    };
    let place = Place::with_fake_jdk(SCRIPT);
    place.write("x.toml", SCENARIO);
    place.run("run --scenario x.toml --out out").ended(0);
    place.run("compare out out").ended(3);
    let pages = ["out/report.html", "out/compare.html"];
    Some((browser, pages.map(|page| place.read(page))))
}

#[test]
fn a_comparison_has_a_page_where_the_user_wants_it() {
    let place = Place::with_fake_jdk(SCRIPT);
    place.write("x.toml", SCENARIO);
    place.run("run --scenario x.toml --out out").ended(0);
    let page = ">What is new since the baseline?</h2>";
    let beside = place.run("compare out out").ended(3);
    let last = beside.stdout.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("Report  file:///") && last.ends_with("/out/compare.html"),
        "{beside:#?}"
    );
    assert!(place.read("out/compare.html").contains(page));
    let named = place.run("compare out out -o mine.html").ended(3);
    assert!(named.stdout.contains("/mine.html"), "{named:#?}");
    assert!(place.read("mine.html").contains(page));
    let output = place.run("compare out out -o -").ended(3);
    assert!(output.stdout.starts_with("<!DOCTYPE html>"), "{output:#?}");
    assert_eq!(output.stdout, place.read("mine.html"));
}

/// What a script at the end of the page wrote into `data-seen`.
fn seen(browser: &str, dir: &Path, page: &str, options: &[&str]) -> serde_json::Value {
    let file = dir.join("page.html");
    fs::write(&file, page).unwrap();
    let output = run(Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-sync",
            "--hide-scrollbars",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--dump-dom",
        ])
        .args(options)
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg(format!("file://{}", file.display())));
    let (_, seen) = output
        .stdout
        .rsplit_once("data-seen=\"")
        .unwrap_or_else(|| panic!("{output:#?}"));
    let seen = seen.split('"').next().unwrap();
    let seen = seen
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    serde_json::from_str(&seen).unwrap()
}

#[test]
fn the_page_works_in_a_browser() {
    let dir = tempfile::tempdir().unwrap();
    let Some((browser, [page, _])) = pages() else {
        return;
    };
    // Links to explanations are followed by readers alone.
    let links = page.matches("href=\"http").count();
    assert_eq!(page.matches("http").count(), links, "nothing is fetched");

    let probed = page
        .replace("<head>", &format!("<head>{BEFORE}"))
        .replace("</body>", &format!("{AFTER}</body>"));
    let seen = seen(browser, dir.path(), &probed, &[]);
    assert_eq!(seen["errors"], serde_json::json!([]));
    assert_eq!(seen["evil"], 0);
    // The root, `A.main`, `A.other` and the frame with the odd name.
    assert_eq!((&seen["all"], &seen["back"]), (&4.into(), &4.into()));
    assert_eq!(seen["zoomed"], "100%");
    assert_eq!(seen["open"], true);
    // Only the frame that differs is marked.
    let rows = [
        ["invented", "A.top @1", "", "not in the truth"],
        ["missing", "", "A.other @5", "missing in the answer"],
        ["same", "A.main @3", "A.main @3", ""],
    ];
    assert_eq!(seen["rows"], serde_json::json!(rows));
    assert_eq!(seen["heat"], 4, "{seen}");
    assert_eq!(seen["trend"], 2);
    let profile = [
        "A.main: 28 of 32",
        "A.top: 20 of 32",
        "other stacks: 4 of 32",
    ];
    assert_eq!(seen["profile"], serde_json::json!(profile));
    // The root, `A.main`, `A.hot` and the frame with the odd name.
    assert_eq!(seen["both"], 4);
    // The odd frame has too small a share and is blue, `A.hot` is red.
    assert_eq!(seen["hues"], serde_json::json!([0, 0, -1, 1]));
    assert_eq!(seen["told"], "A.hot: ran 40.00 % (4), shown 62.50 % (5)");
    // The mean of both shares is 512.5 in a thousand; a browser rounds to its pixels.
    assert!(
        [512, 513].contains(&seen["width"].as_u64().unwrap()),
        "{seen}"
    );
    assert_eq!(seen["zoomedBoth"], "100%");
    assert_eq!(seen["places"], "nmethod tier 4");
    assert_eq!(seen["loads"], 0);
    assert!(seen["warm"].as_str().unwrap().starts_with("rgb("));
    let headline = seen["headline"].as_str().unwrap();
    assert!(headline.contains("GetStackTrace"), "{headline}");
}

/// The file of axe-core, where `npm install --global axe-core` or the variable `STACKWITNESS_AXE` has put it.
fn axe() -> Option<String> {
    let named = std::env::var_os("STACKWITNESS_AXE").map(PathBuf::from);
    let installed = || {
        let output = Command::new("npm")
            .args(["root", "--global"])
            .output()
            .ok()?;
        let root = String::from_utf8(output.stdout).ok()?;
        Some(Path::new(root.trim()).join("axe-core/axe.min.js"))
    };
    fs::read_to_string(named.or_else(installed)?).ok()
}

#[test]
fn the_pages_are_accessible_in_light_and_dark_and_fit_a_phone() {
    let Some(axe) = axe() else {
        println!("skipped: no axe-core; get it with `npm install --global axe-core`");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let Some((browser, pages)) = pages() else {
        return;
    };
    for page in pages {
        is_accessible(browser, dir.path(), &axe, &page);
    }
}

fn is_accessible(browser: &str, dir: &Path, axe: &str, page: &str) {
    let probed = page.replace(
        "</body>",
        &format!("<script>{axe}</script>{AXE_AFTER}</body>"),
    );
    let phone = probed.replace('&', "&amp;").replace('"', "&quot;");
    // A window of Chromium is never narrower than 500 pixels; a frame may be.
    let phone = format!(
        "<body><iframe style=\"width:390px;height:844px;border:0\" srcdoc=\"{phone}\"></iframe>\
         <script>addEventListener('message', event => {{ document.body.dataset.seen = event.data; }})</script>"
    );
    let dark = [
        "--blink-settings=preferredColorScheme=0",
        "--force-dark-mode",
    ];
    for (page, width, options) in [
        (&probed, 1200, &[][..]),
        (&probed, 1200, &dark[..]),
        (&phone, 390, &[][..]),
        (&phone, 390, &dark[..]),
    ] {
        let all = [
            &["--window-size=1200,900", "--virtual-time-budget=60000"][..],
            options,
        ]
        .concat();
        let seen = seen(browser, dir, page, &all);
        let is_dark = !options.is_empty();
        assert_eq!(seen["found"], serde_json::json!([]), "{width} {is_dark}");
        assert_eq!(seen["cut"], serde_json::json!([]), "{width} {is_dark}");
        assert_eq!(
            (&seen["dark"], &seen["width"]),
            (&is_dark.into(), &width.into())
        );
        assert!(seen["page"].as_u64() <= seen["width"].as_u64(), "{seen}");
    }
}
