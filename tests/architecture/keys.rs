//! The keys of the files that people write, from the types that read them.

use crate::schema::{Part, types};
use std::fmt::Write;

/// A kind of file, and the page that describes its keys.
pub struct Keys {
    /// The page, from the workspace's root on.
    pub page: &'static str,
    places: &'static [&'static str],
    /// The types with keys, and where their keys stand in a file.
    tables: &'static [(&'static str, &'static str)],
}

/// Scenarios, known issues, and descriptions of profilers.
pub const KEYS: [Keys; 3] = [
    Keys {
        page: "docs/scenarios.md",
        places: &[
            "scenarios/src/scenario/file.rs",
            "scenarios/src/scenario/sampling.rs",
            "scenarios/src/scenario/variation.rs",
        ],
        tables: &[
            ("File", "at the top"),
            ("FileSampling", "`[sampling]`"),
            ("FileMatrix", "`[matrix]`"),
            ("Table", "a value of an axis"),
            ("FileProgram", "`[[program]]`"),
            ("Fixtures", "its `fixtures`"),
            ("Javac", "its `javac`"),
            ("FileSuite", "its `suite`"),
        ],
    },
    Keys {
        page: "docs/ci.md",
        places: &["oracle/src/gate/known/issue.rs"],
        tables: &[("KnownIssue", "`[[issue]]`")],
    },
    Keys {
        page: "docs/guide/profiler.md",
        places: &["joining/src/profiler.rs"],
        tables: &[
            ("Description", "at the top"),
            ("ClassFamily", "`[[families]]`"),
        ],
    },
];

impl Keys {
    /// The table of each type.
    pub fn tables(&self) -> String {
        let types = types(self.places);
        let mut text = String::new();
        for (name, place) in self.tables {
            let of = types.get(*name).expect("the type of a table");
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
}

/// The key, as code.
fn shown(key: &Part) -> String {
    format!("`{}`", key.name)
}
