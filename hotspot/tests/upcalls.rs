//! `docs/reference/upcalls.md` has the rows of the tables of upcalls and intrinsics.

use hotspot::runtime::HotSpot;
use oracle::edge::{Occasions, Of, Runtime};
use std::fmt::Write;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/upcalls.md");
const START: &str = "<!-- rows: start -->\n";
const END: &str = "<!-- rows: end -->";

/// The occasions of a call, in words.
const WORDS: &[(Occasions, &str)] = &[
    (Occasions::LOADS, "a class is loaded"),
    (
        Occasions::LINKS,
        "a method handle, call site or constant is linked",
    ),
    (Occasions::CALLS, "a call is linked"),
    (Occasions::INITIALISES, "any class is initialised"),
    (Occasions::THROWS, "the VM throws"),
    (Occasions::FINALIZES, "an object gets a finaliser"),
    (Occasions::STARTS, "a thread starts or ends"),
    (Occasions::SERVES, "a thread of the VM works"),
    (Occasions::LAUNCHES, "the VM starts or ends"),
];

fn when(on: Occasions) -> String {
    let words = WORDS.iter().filter(|(one, _)| on.overlaps(*one));
    let words: Vec<_> = words.map(|(_, words)| *words).collect();
    words.join("; ")
}

fn table() -> String {
    let mut text = "\n| class | method | when |\n| --- | --- | --- |\n".to_owned();
    for row in HotSpot.upcalls() {
        let class = match row.of {
            Of::Class(class) => format!("`{class}`"),
            Of::Subtypes(class) => format!("`{class}` and subclasses"),
            Of::Package(package) => format!("all of `{package}`"),
        };
        let (name, descriptor) = (row.name, row.descriptor.unwrap_or_default());
        writeln!(
            text,
            "| {class} | `{name}{descriptor}` | {} |",
            when(row.on)
        )
        .unwrap();
    }
    text += "\n| intrinsic | when it calls Java |\n| --- | --- |\n";
    for row in HotSpot.intrinsics() {
        writeln!(text, "| `{}.{}` | {} |", row.class, row.name, when(row.on)).unwrap();
    }
    text.push('\n');
    text
}

/// `BLESS=1` writes the rows.
#[test]
fn the_page_has_the_rows() {
    let page = std::fs::read_to_string(DOCS).expect("docs/reference/upcalls.md");
    let (before, rest) = page.split_once(START).expect("where the rows start");
    let (rows, after) = rest.split_once(END).expect("where the rows end");
    if std::env::var_os("BLESS").is_some() {
        let blessed = format!("{before}{START}{}{END}{after}", table());
        std::fs::write(DOCS, blessed).expect("the page can be written");
        return;
    }
    assert_eq!(rows, table(), "run this test with BLESS=1");
}

#[test]
fn every_row_has_its_occasion() {
    for row in HotSpot.upcalls() {
        assert_ne!(when(row.on), "", "{row:?}");
    }
}
