//! Compares the names in the documents that propose the API with the names in the header: the table
//! in `docs/reference/asgst-names.md`.
//!
//! The documents lie beside the repository, in `shared/seeds`. With `UPDATE_DOCS=1` the test writes
//! the table. Without, the test compares the table.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The documents, and their names in the table.
const DOCUMENTS: [(&str, &str); 3] = [
    ("001-asyncgetstacktrace-jep-435.txt", "JEP 435"),
    (
        "000-safepoint-based-stack-walking-and-iterator-api.txt",
        "iterator and queue",
    ),
    ("003-tiny-profiler-and-writing-a-profiler.txt", "profiler"),
];

/// Words of the documents that are no names of the API.
const PROSE: [&str; 3] = ["ASGST", "ASGST_Methods", "AsyncGetStackTraceSampler"];

const START: &str = "<!-- The table of names is written by walker/tests/surface.rs. -->\n";
const END: &str = "<!-- End of the table of names. -->\n";

fn names(text: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c| !is_part(c))
        .filter(|word| word.starts_with("ASGST") || word.starts_with("AsyncGetStackTrace"))
        .filter(|word| !PROSE.contains(word))
        .collect()
}

fn repository() -> PathBuf {
    let walker = Path::new(env!("CARGO_MANIFEST_DIR"));
    walker.parent().expect("the repository").to_owned()
}

fn table(documents: &[(String, &str)], header: &str) -> String {
    let all: BTreeSet<&str> = documents.iter().flat_map(|(text, _)| names(text)).collect();
    let offered = names(header);
    let mut table = String::from("| name | document | in `profile2.h` |\n| --- | --- | --- |\n");
    for name in &all {
        let sources = documents
            .iter()
            .filter(|(text, _)| names(text).contains(name))
            .map(|&(_, title)| title);
        let sources = sources.collect::<Vec<_>>().join(", ");
        assert!(offered.contains(name), "`profile2.h` lacks {name}");
        table += &format!("| `{name}` | {sources} | yes |\n");
    }
    for name in offered.difference(&all) {
        table += &format!("| `{name}` | – | extension |\n");
    }
    table
}

#[test]
fn every_name_of_the_documents_is_offered() {
    let repository = repository();
    let seeds = repository
        .ancestors()
        .map(|folder| folder.join("shared/seeds"))
        .find(|folder| folder.is_dir());
    let Some(seeds) = seeds else {
        println!("skipped: no folder shared/seeds beside the repository");
        return;
    };
    let read = |path: PathBuf| {
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    let documents = DOCUMENTS.map(|(file, title)| (read(seeds.join(file)), title));
    let header = read(repository.join("walker/include/profile2.h"));
    let expected = table(&documents, &header);
    let page = repository.join("docs/reference/asgst-names.md");
    let text = read(page.clone());
    let (before, rest) = text.split_once(START).expect("the page has a table");
    let (found, after) = rest.split_once(END).expect("the table ends");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(page, format!("{before}{START}{expected}{END}{after}")).expect("written");
        return;
    }
    assert_eq!(found, expected, "UPDATE_DOCS=1 writes the table anew");
}
