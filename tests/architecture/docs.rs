//! The documentation: its links lead somewhere, and design pages have no history.

use crate::workspace::root;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A page of the documentation: its path from the workspace's root on, and its text.
pub struct Page {
    /// The path, with `/`.
    pub path: String,
    /// The text.
    pub text: String,
}

/// All Markdown pages in `docs` and in the workspace's root.
pub fn pages() -> Vec<Page> {
    let mut open = vec![root().join("docs")];
    let mut found = markdown_in(root());
    while let Some(folder) = open.pop() {
        found.extend(markdown_in(&folder));
        let entries = fs::read_dir(&folder).expect("the folder can be read");
        let paths = entries.map(|entry| entry.expect("the folder can be read").path());
        open.extend(paths.filter(|path| path.is_dir()));
    }
    found.sort();
    let read = |path: PathBuf| Page {
        text: fs::read_to_string(&path).expect("the page can be read"),
        path: path
            .strip_prefix(root())
            .expect("it lies below")
            .display()
            .to_string(),
    };
    found.into_iter().map(read).collect()
}

fn markdown_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    paths
        .filter(|path| path.is_file() && path.extension().is_some_and(|end| end == "md"))
        .collect()
}

impl Page {
    /// The lines outside of blocks of code, with their numbers from 1 on.
    fn prose(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut in_code = false;
        let lines = self.text.lines().enumerate();
        lines.filter_map(move |(index, line)| {
            let is_fence = line.trim_start().starts_with("```");
            in_code ^= is_fence;
            (!in_code && !is_fence).then_some((index + 1, line))
        })
    }

    /// The places to which a link may lead: those of headings, as GitHub names them, and those of `<a id="…">`.
    fn anchors(&self) -> HashSet<String> {
        let mut anchors = HashSet::new();
        for (_, line) in self.prose() {
            if let Some(heading) = line.strip_prefix('#') {
                let slug = slug(heading.trim_start_matches('#').trim());
                let again = (1..).map(|number| format!("{slug}-{number}"));
                let free = std::iter::once(slug.clone())
                    .chain(again)
                    .find(|slug| !anchors.contains(slug));
                anchors.extend(free);
            }
            let ids = line
                .split("<a id=\"")
                .skip(1)
                .filter_map(|rest| rest.split('"').next());
            anchors.extend(ids.map(str::to_owned));
        }
        anchors
    }

    /// The targets of links and pictures, with the lines on which they stand.
    fn links(&self) -> Vec<(usize, String)> {
        let mut links = vec![];
        for (number, line) in self.prose() {
            // What stands between backticks is no link.
            let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
            let targets = prose
                .split("](")
                .skip(1)
                .filter_map(|rest| rest.split(')').next());
            links.extend(targets.map(|target| (number, target.to_owned())));
        }
        links
    }
}

/// The anchor that GitHub makes of a heading.
fn slug(heading: &str) -> String {
    // Of a link in a heading the text counts alone.
    let mut text = String::new();
    for (index, part) in heading.split("](").enumerate() {
        let part = if index == 0 {
            part
        } else {
            part.split_once(')').map_or("", |(_, rest)| rest)
        };
        text += part;
    }
    let kept = text
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c })
        .collect::<String>()
        .to_lowercase()
}

/// The links that lead nowhere.
pub fn broken_links(pages: &[Page]) -> Vec<String> {
    let mut broken = vec![];
    for page in pages {
        let folder = Path::new(&page.path).parent().unwrap_or(Path::new(""));
        for (line, target) in page.links() {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let path = if file.is_empty() {
                PathBuf::from(&page.path)
            } else {
                plain(&folder.join(file))
            };
            let shown = path.display().to_string();
            if !root().join(&path).exists() {
                broken.push(format!("{}:{line}: {target} does not exist", page.path));
            } else if !anchor.is_empty() {
                let other = pages.iter().find(|page| page.path == shown);
                if !other.is_some_and(|page| page.anchors().contains(anchor)) {
                    broken.push(format!("{}:{line}: {shown} has no #{anchor}", page.path));
                }
            }
        }
    }
    broken
}

/// A path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                plain.pop();
            }
            std::path::Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// Words of a diary. They belong to `docs/results` and to the change log.
const DIARY: [&str; 13] = [
    "since then",
    "a load of",
    "(load ",
    ", load ",
    " mended",
    "that morning",
    "that day",
    "an earlier version",
    "an earlier run",
    "before this rule existed",
    "at night",
    "the day before",
    "nowadays",
];

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The lines of history in pages that say how Stackwitness is, and not how it became so or what a run showed.
pub fn diary(pages: &[Page]) -> Vec<String> {
    let timeless = pages
        .iter()
        .filter(|page| !page.path.starts_with("docs/results/") && page.path != "CHANGELOG.md");
    let mut found = vec![];
    for page in timeless {
        for (number, line) in page.prose() {
            let line = line.to_lowercase();
            let words = DIARY.iter().copied().filter(|words| line.contains(words));
            let date = date(&line);
            found.extend(
                words
                    .map(str::to_owned)
                    .chain(date)
                    .map(|word| format!("{}:{number}: {word}", page.path)),
            );
        }
    }
    found
}

/// A date in a line in small letters: "24 november" or "november 2026" or "2026-11-24".
fn date(line: &str) -> Option<String> {
    let parts: Vec<&str> = line
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .filter(|part| !part.is_empty())
        .collect();
    let is_number =
        |part: &str| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    let mut pairs = parts.windows(2);
    let with_month = pairs.find(|pair| {
        (MONTHS.contains(&pair[0]) && is_number(pair[1]))
            || (is_number(pair[0]) && MONTHS.contains(&pair[1]))
    });
    let is_iso = |part: &&&str| {
        let numbers: Vec<&str> = part.split('-').collect();
        numbers.iter().all(|number| is_number(number))
            && numbers.iter().map(|number| number.len()).eq([4, 2, 2])
    };
    let iso = parts.iter().find(is_iso).map(|part| (*part).to_owned());
    with_month.map(|pair| pair.join(" ")).or(iso)
}

/// What the first lines of a page have that a program writes as a whole.
const WHOLE: [&str; 2] = ["Written by `BLESS=1", ") found it by comparing "];

/// The beginnings of the lines before and behind a part that a program writes. A part without an end goes to the end of
/// the page.
const STARTS: [&str; 4] = [
    "<!-- written by",
    "<!-- rows: start",
    "<!-- The table of names is written",
    "<!-- The tables are written",
];
const ENDS: [&str; 3] = [
    "<!-- end of what",
    "<!-- rows: end",
    "<!-- End of the table of names",
];

/// How many lines of a page people have written and must keep right.
fn by_hand(page: &Page) -> usize {
    lines_of_hand(page).len()
}

fn lines_of_hand(page: &Page) -> Vec<&str> {
    let mut first = page.text.lines().take(12);
    if first.any(|line| WHOLE.iter().any(|mark| line.contains(mark))) {
        return vec![];
    }
    let begins = |line: &str, marks: &[&str]| marks.iter().any(|mark| line.starts_with(mark));
    let mut is_written = false;
    let mut lines = vec![];
    for line in page.text.lines() {
        is_written |= begins(line, &STARTS);
        if !is_written {
            lines.push(line);
        }
        is_written &= !begins(line, &ENDS);
    }
    lines
}

/// The lines by hand of the documentation for users: README and `docs`. Each page with its number.
pub fn lines_by_hand(pages: &[Page]) -> Vec<(&str, usize)> {
    let meant = |page: &&Page| page.path == "README.md" || page.path.starts_with("docs/");
    let pages = pages.iter().filter(meant);
    pages
        .map(|page| (page.path.as_str(), by_hand(page)))
        .collect()
}

/// What a page of results says of figures that no stored report holds.
const UNSTORED: &str = "stored report";

/// The sections of results that have figures by hand, and do not say that there is no stored report. A page may say so
/// above its first heading for all its sections.
pub fn figures_of_unknown_origin(pages: &[Page]) -> Vec<String> {
    let mut found = vec![];
    for page in pages
        .iter()
        .filter(|page| page.path.starts_with("docs/results/"))
    {
        let text = lines_of_hand(page).join("\n").to_lowercase();
        let mut sections = text.split("\n## ");
        let says_so = |section: &str| section.contains(UNSTORED);
        if sections.clone().next().is_some_and(says_so) {
            continue;
        }
        let sections = sections
            .by_ref()
            .filter(|section| has_figures(section) && !says_so(section));
        let title = |section: &str| section.lines().next().unwrap_or_default().to_owned();
        found.extend(sections.map(|section| format!("{}: {}", page.path, title(section))));
    }
    found
}

/// Whether a text has a share in per cent, or a count of thousands.
fn has_figures(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let is = |at: usize, is: fn(&char) -> bool| chars.get(at).is_some_and(is);
    let digit: fn(&char) -> bool = char::is_ascii_digit;
    (0..chars.len()).filter(|&at| is(at, digit)).any(|at| {
        let is_share = is(at + 1, |c| *c == ' ') && is(at + 2, |c| *c == '%');
        let is_count = is(at + 1, |c| *c == ',') && (2..5).all(|ahead| is(at + ahead, digit));
        is_share || is_count
    })
}

/// The most characters of a line of prose. Wider lines would make the documentation shorter by their number alone.
const WIDEST: usize = 144;

/// The lines of prose by hand that are too wide; links and rows of tables cannot be divided.
pub fn wide(pages: &[Page]) -> Vec<String> {
    let mut found = vec![];
    let pages = pages.iter().filter(|page| page.path.starts_with("docs/"));
    for page in pages {
        let hand: HashSet<&str> = lines_of_hand(page).into_iter().collect();
        let prose = page.prose().filter(|(_, line)| {
            let is_whole = line.starts_with('|') || line.contains("](");
            !is_whole && hand.contains(line) && line.chars().count() > WIDEST
        });
        found.extend(prose.map(|(number, _)| format!("{}:{number}", page.path)));
    }
    found
}

#[test]
fn a_wide_line_is_found() {
    let page = |text: String| Page {
        path: "docs/x.md".into(),
        text,
    };
    let long = "a ".repeat(73);
    let text = format!("| {long} |\n{long}\n```\n{long}\n```\n[b](c) {long}\nd\n");
    assert_eq!(wide(&[page(text)]), ["docs/x.md:2"]);
    let generated = format!("<!-- written by x -->\n{long}\n<!-- end of what x writes -->\n");
    assert_eq!(wide(&[page(generated)]), [""; 0]);
}

#[test]
fn figures_by_hand_say_that_no_report_is_stored() {
    let page = |text: &str| Page {
        path: "docs/results/x.md".into(),
        text: text.into(),
    };
    let of = |text: &str| figures_of_unknown_origin(&[page(text)]);
    let generated = "<!-- written by x -->\n5 %\n<!-- end of what x writes -->\n";
    assert_eq!(of("# A\n\n12 of them, on 17.0.2\n"), [""; 0]);
    assert_eq!(of(&format!("# A\n{generated}")), [""; 0]);
    assert_eq!(
        of("# A\n\n## B\n5 %\n## C\n1,000\n"),
        ["docs/results/x.md: b", "docs/results/x.md: c"]
    );
    assert_eq!(of("# A\n\n## B\n5 %, without a stored report\n"), [""; 0]);
    assert_eq!(of("# A\n\nno stored report\n## B\n5 %\n"), [""; 0]);
}

#[test]
fn what_a_program_writes_is_not_by_hand() {
    let page = |text: &str| Page {
        path: "docs/x.md".into(),
        text: text.into(),
    };
    let part = "a\n<!-- written by x -->\nb\n<!-- end of what x writes -->\nc\n";
    assert_eq!(by_hand(&page(part)), 2);
    assert_eq!(by_hand(&page("a\n\n<!-- rows: start -->\nb\n# c\n")), 2);
    assert_eq!(
        by_hand(&page("# a\n\nWritten by `BLESS=1 cargo test`.\n")),
        0
    );
}

#[test]
fn a_link_or_a_word_of_a_diary_is_found() {
    let page = |path: &str, text: &str| Page {
        path: path.into(),
        text: text.into(),
    };
    let pages = [
        page(
            "docs/architecture.md",
            "# A `b` (c)\n[x](#a-b-c) [y](#none) [z](no.md) `[code](no.md)`\n```\n[code](no.md)\n```\nSince then, in November 2026, on 2026-11-24.",
        ),
        page("docs/results/of.md", "Since then (24 November 2026)."),
    ];
    assert_eq!(
        broken_links(&pages),
        [
            "docs/architecture.md:2: docs/architecture.md has no #none",
            "docs/architecture.md:2: no.md does not exist",
        ]
    );
    assert_eq!(
        diary(&pages),
        [
            "docs/architecture.md:6: since then",
            "docs/architecture.md:6: november 2026",
        ]
    );
    assert_eq!(date("on 2026-11-24"), Some("2026-11-24".into()));
    assert_eq!(date("it may take 5"), None);
    assert_eq!(date("you may 2"), Some("may 2".into()));
}
