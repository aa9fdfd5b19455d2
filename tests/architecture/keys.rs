//! The keys of a scenario file, written from the types that read it.

use crate::schema::{Part, types};
use std::fmt::Write;

/// The page, from the workspace's root on.
pub const PAGE: &str = "docs/scenarios.md";

const PLACES: [&str; 3] = [
    "scenarios/src/scenario/file.rs",
    "scenarios/src/scenario/sampling.rs",
    "scenarios/src/scenario/variation.rs",
];

/// The types with keys, and where their keys stand in a file.
const TABLES: [(&str, &str); 8] = [
    ("File", "at the top"),
    ("FileSampling", "`[sampling]`"),
    ("FileMatrix", "`[matrix]`"),
    ("Table", "a value of an axis"),
    ("FileProgram", "`[[program]]`"),
    ("Fixtures", "its `fixtures`"),
    ("Javac", "its `javac`"),
    ("FileSuite", "its `suite`"),
];

/// The table of each type.
pub fn tables() -> String {
    let types = types(&PLACES);
    let mut text = String::new();
    for (name, place) in TABLES {
        let of = types.get(name).expect("the type of a table");
        let _ = writeln!(text, "| {place} | says |\n| --- | --- |");
        for key in &of.parts {
            assert!(
                !key.doc.is_empty(),
                "{name}.{} has no documentation",
                key.name
            );
            let _ = writeln!(text, "| {} | {} |", shown(key), key.doc.replace('|', "\\|"));
        }
        text.push('\n');
    }
    text
}

/// The key, as code.
fn shown(key: &Part) -> String {
    format!("`{}`", key.name)
}
